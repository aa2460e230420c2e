"""base: what every package stands on: clocks, tasks, budgets, measures, JSON objects. It knows nothing of the rest."""
