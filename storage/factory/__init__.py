"""Factory."""
