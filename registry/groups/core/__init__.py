"""The core group: pods, services, configuration, nodes, volumes."""
