"""Golang: Go's text forms (numbers, durations, quantities, quoting) and the messages of its parsers."""
