"""Podsecurity: the Pod Security Standards privileged, baseline and restricted, by minor version."""
