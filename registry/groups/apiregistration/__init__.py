"""apiregistration.k8s.io: the groups that are served, here or elsewhere."""
