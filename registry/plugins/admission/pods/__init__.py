"""Pods: the admission plugins for pods."""
