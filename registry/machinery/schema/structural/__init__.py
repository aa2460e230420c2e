"""Structural schemas: what the server does to the objects of custom resources by their OpenAPI v3 schemas.

Pure, and told by the raw schema: a schema of half a megabyte is walked only where an object goes.
"""
