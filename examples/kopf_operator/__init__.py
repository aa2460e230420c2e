"""Kopf operator: an operator with kopf, and its tests."""
