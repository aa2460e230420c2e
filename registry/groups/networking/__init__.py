"""networking: Ingresses, NetworkPolicies, and the addresses of services."""
