"""Attacks on a server, each in a process of its own, and how other clients fare meanwhile."""
