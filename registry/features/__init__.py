"""Feature gates: what of Kubernetes is new enough to be switched."""
