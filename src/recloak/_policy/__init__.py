"""Policies: what a release must promise, withstand and be reviewed for, in one file."""
