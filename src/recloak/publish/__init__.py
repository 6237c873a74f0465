"""Publish ratings: pad, group, homogenise, diversify, verify, write (Predictive Anonymization)."""
