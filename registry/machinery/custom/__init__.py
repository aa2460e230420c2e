"""Custom."""
