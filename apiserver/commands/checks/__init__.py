"""Checks: what the commands doctor and check find out about a machine, a store and its objects."""
