"""Namespaces: the admission plugins that hold the state and the limits of a namespace."""
