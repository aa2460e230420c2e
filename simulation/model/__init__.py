"""Model: what is true of simulated nodes and containers, from objects and their annotations. Pure."""
