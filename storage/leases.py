"""Leases: kube-apiserver's defaults for the leases that objects with a TTL share."""

REUSE_SECONDS = 60
MAX_OBJECTS = 1_000
"""Revoking a lease with more keys would block the kv engine for too long."""
