"""Encryption providers, one a file: each is imported only when a configuration names it."""
