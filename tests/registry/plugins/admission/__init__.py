"""Admission plugins, each by itself."""
