"""Encryption."""
