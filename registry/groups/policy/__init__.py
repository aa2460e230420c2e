"""policy: disruption budgets."""
