"""Rows drawn for groups (mode *sampled*): nobody's own row, and none that depends on which member is which.

A group lends its tally of items and its mean taste; all else is pooled over everybody. See `sampler`.
"""
