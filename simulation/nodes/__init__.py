"""Nodes: the simulated nodes, and what a cloud gives a cluster: volumes and addresses."""
