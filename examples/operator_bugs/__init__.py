"""Classic mistakes, shown by faults."""
