"""Pods: the kind Pod, its subresources, its validation, and what kinds with a pod template share."""
