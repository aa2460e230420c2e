"""A controller with the official client."""
