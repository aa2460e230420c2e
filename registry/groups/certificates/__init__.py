"""certificates.k8s.io: signing requests."""
