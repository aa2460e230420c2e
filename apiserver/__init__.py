"""Apiserver: the HTTP server, TLS, flags and the process of aio-apiserver.

Other packages must not import aiohttp.
"""
