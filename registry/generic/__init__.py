"""The generic registry: one Store that serves every kind, and what it decides with."""
