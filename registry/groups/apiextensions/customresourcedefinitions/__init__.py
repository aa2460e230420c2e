"""Customresourcedefinitions: the kind CustomResourceDefinition, and the controller that accepts definitions."""
