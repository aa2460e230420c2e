"""The registry: what Kubernetes means. Knows no HTTP and no etcd."""
