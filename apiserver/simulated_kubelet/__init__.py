"""Simulated kubelet: the HTTPS server of simulated nodes, for logs, exec, attach and port-forward."""
