"""resource.k8s.io: devices, claimed and allocated."""
