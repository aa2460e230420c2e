"""Metrics: the metrics of this server, under the names that kube-apiserver uses."""
