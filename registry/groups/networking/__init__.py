"""networking.k8s.io: ingresses, network policies, address allocation."""
