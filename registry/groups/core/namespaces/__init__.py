"""Namespaces: a Namespace and its deletion, and the kinds that limit what a namespace may hold."""
