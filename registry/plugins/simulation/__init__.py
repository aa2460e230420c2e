"""simulation: what users can say about a simulated cluster."""
