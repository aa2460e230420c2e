"""Serving: custom resources as kinds that the server serves."""
