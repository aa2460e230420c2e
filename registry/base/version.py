"""The Kubernetes version that this server behaves as."""

KUBERNETES_VERSION = "v1.36.4"
