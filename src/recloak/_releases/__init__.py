"""Releases of a rating matrix by Predictive Anonymization: pad, group, homogenise, diversify, verify, write."""
