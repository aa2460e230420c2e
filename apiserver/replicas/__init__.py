"""Replicas: the keys that all servers on one etcd share, and the command that rotates them."""
