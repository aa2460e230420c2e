"""coordination: Leases."""
