"""The authentication.k8s.io group."""
