"""Certificates: the admission plugins for certificate signing requests."""
