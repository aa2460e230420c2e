"""authentication: the reviews of the group authentication.k8s.io."""
