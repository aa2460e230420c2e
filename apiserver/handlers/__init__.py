"""Handlers: one verb a file, from a request's context to a resource of the registry and back."""
