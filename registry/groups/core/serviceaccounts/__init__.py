"""Serviceaccounts: the identities of pods, and their tokens."""
