"""Fuzzing: seeds, targets and requests that go wrong."""
