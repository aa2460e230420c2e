"""Transformers: what turns a stored value into an object's text and back, and the encryption providers, one a module.

A provider is imported when a configuration names it.
"""
