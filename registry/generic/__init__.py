"""Generic: the registry's generic part: one Store for every kind, and the contracts of admission and authorization."""
