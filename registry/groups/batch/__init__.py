"""batch: work that ends."""
