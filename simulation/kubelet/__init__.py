"""Kubelet: the simulated kubelet: the statuses, containers, volumes, probes and logs of pods."""
