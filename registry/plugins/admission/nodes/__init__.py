"""Nodes: the admission plugins for nodes, and for pods that depend on the facts of their node."""
