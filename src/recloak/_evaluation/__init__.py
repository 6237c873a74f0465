"""What a release is still good for: deviations, recommenders trained on it, and how its shape changed."""
