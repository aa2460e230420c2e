"""policy: PodDisruptionBudgets and evictions."""
