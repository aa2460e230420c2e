"""Audit: which requests are recorded, in how much detail, and what a record says; not where records go."""
