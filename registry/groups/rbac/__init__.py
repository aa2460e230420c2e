"""rbac: roles and role bindings of the group rbac.authorization.k8s.io."""
