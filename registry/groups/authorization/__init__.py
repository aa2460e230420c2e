"""The authorization.k8s.io group."""
