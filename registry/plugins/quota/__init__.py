"""Quotas: what an object uses of what a namespace may use."""
