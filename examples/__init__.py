"""Operators and their tests: what aio_apiserver.testing is for. Run with `pytest examples`."""
