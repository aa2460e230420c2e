"""Selectors: parses label selectors and field selectors into the requirements that storage matches."""
