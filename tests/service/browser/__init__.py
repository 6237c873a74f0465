"""The service in a real browser."""
