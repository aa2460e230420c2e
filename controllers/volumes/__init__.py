"""Volumes: the controllers of persistent volumes, their claims and resource claims, with their decisions."""
