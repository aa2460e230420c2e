"""Handlers: one file for each verb, from the context of a request to the storage of a resource and its response."""
