"""Patches: from an object and what a client says of it to the new object. Pure; no HTTP, no storage."""
