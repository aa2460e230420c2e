"""Simulation: the cluster of --simulate: nodes, a scheduler, and a kubelet that changes the status of pods."""
