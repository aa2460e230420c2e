"""Simulation: the cluster of --simulate: nodes, a scheduler, and a kubelet that changes the status of pods.

It works as the controllers do, as in-process clients. cluster.py lists its parts. It must not know HTTP.
"""
