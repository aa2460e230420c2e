"""Structural: what the server does with structural schemas of CRDs: pruning, defaults, list types, embedded resources.

Pure. It reads the raw schema, and of a large schema the parts for which the object has values.
"""
