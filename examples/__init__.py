"""Operators and their tests: what apiserver.testing is for. Run with `pytest examples`."""
