"""Validation of values against OpenAPI v3 schemas, with kube-apiserver's words and in its order.

Pure. Told by the raw schema; patterns run on RE2, so that no client's pattern can take more than linear time.
"""
