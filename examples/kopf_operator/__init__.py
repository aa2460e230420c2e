"""An operator with kopf."""
