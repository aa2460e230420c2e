"""Registry: what Kubernetes' API means: kinds, defaults, validation and admission. Knows no HTTP and no etcd."""
