"""aio_apiserver: the Kubernetes API server in asyncio Python.

Tests import `aio_apiserver.testing`. The folders below are the server's own: their modules may change with any release.
"""
