"""Bootstrap: creates and repairs kube-apiserver's own objects: RBAC policy, flow schemas, the kubernetes service."""
