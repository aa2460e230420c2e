"""Transformers: encryption providers, one a module. A module is imported when a configuration names its provider."""
