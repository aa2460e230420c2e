"""Printing: the rows of Kubernetes' tables, as `kubectl get` shows them."""
