"""Connections: subresources that connect a client to a kubelet, a pod, a service or a node."""
