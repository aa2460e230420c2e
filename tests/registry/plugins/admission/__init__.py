"""Admission plugins, each alone."""
