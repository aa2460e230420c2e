"""Kr8s operator: an operator with kr8s, and its tests."""
