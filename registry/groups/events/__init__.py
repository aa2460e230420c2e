"""events.k8s.io: the newer shape of core events."""
