"""Attacks on what a recommender publishes: each sees only what is public plus stated background knowledge."""
