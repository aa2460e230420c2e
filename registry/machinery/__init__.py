"""Machinery."""
