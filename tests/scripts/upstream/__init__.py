"""The generator of the tables that are taken from Kubernetes."""
