"""Validation: the field errors of CustomResourceDefinitions. Pure."""
