"""Validation: validates values against OpenAPI v3 schemas, with kube-apiserver's errors in its order.

Pure. It reads the raw schema. Patterns run on RE2, in linear time.
"""
