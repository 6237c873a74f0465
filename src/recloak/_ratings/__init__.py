"""The model of ratings, its ids, its readers and synthetic data."""
