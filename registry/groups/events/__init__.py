"""events: the group events.k8s.io, which serves core events in a newer shape."""
