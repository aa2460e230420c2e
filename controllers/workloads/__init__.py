"""Workloads: the controllers of deployments, sets of pods and disruption budgets, with their decisions."""
