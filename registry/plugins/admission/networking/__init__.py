"""Networking: the admission plugins for services and ingresses."""
