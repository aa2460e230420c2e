"""Controlplane."""
