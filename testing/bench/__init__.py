"""Bench: faults, recorded requests, snapshots and a movable clock, inside a server with --testing."""
