"""OpenAPI: the documents /openapi/v2 and /openapi/v3 for built-in and custom resources.

Pure. It must not know HTTP.
"""
