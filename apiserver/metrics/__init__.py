"""Metrics: what this server records of itself, under the names that kube-apiserver uses."""
