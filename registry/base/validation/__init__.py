"""Validation: field errors and the rules that all kinds share. Pure."""
