"""Cacher: keeps a resource's present state and recent events in memory, as kube-apiserver's watch cache does.

A reflector fills it from the store; a fan-out hands the events to the watchers.
"""
