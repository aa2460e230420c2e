"""Definitions: the facts of a CustomResourceDefinition, as the other folders of the group read them. Pure."""
