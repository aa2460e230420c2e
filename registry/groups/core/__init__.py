"""Core: the kinds of the core group, such as pods, services, config maps, nodes and persistent volumes."""
