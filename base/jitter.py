"""Jitter: random numbers that hide nothing: pauses that spread load, choices among equals, numbers of spans.

A server may run in the process of a test, which may seed Python's own source. Must hold: the server neither uses nor
changes that source.
"""

from random import Random

chance = Random()  # noqa: S311 - secrets come from the module secrets
