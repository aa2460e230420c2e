"""Patch: the patch types of Kubernetes: JSON Patch, JSON merge patch, strategic merge patch and server-side apply.

Pure. It must not know HTTP or storage.
"""
