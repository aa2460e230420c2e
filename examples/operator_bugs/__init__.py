"""Operator bugs: classic bugs of operators, shown by faults."""
