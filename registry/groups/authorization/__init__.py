"""authorization: the access reviews of the group authorization.k8s.io."""
