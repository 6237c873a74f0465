"""recloak: privacy of what a recommender shows the world.

Its ratings, its related-item lists, and what its users say in public: for each the attack, the defence, the proof that
the defence holds, and the price in usefulness.
"""
