"""Benchmarks: each file measures one thing side by side with its rival and prints figure and ratio."""
