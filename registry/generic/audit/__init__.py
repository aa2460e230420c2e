"""Audit: which requests are recorded, at which level, and the content of their events; not the backends."""
