"""Certificates: one printed page about a release, signed by its owner."""
