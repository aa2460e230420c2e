"""Admission: rules across objects, between decoding and storing. A chain of plugins, one a file."""
