"""Quota: what an object uses of the ResourceQuotas of its namespace."""
