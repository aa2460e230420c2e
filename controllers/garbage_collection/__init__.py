"""Garbage collection: deletes objects whose owners are gone, over all kinds."""
