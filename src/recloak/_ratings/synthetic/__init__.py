"""Synthetic ratings with the shape of real data sets: activity, popularity, histogram, taste and times."""
