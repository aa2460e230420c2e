"""Custom types: the types of custom resources, with the interface of built-in types."""
