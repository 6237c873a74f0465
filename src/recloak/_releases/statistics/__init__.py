"""Statistics of ratings with differential privacy for each person, published beside a release."""
