"""scheduling: PriorityClasses."""
