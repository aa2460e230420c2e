"""Aggregation: groups of APIs that other servers answer, as if this one did."""
