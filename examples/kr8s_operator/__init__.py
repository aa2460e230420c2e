"""An operator with kr8s."""
