"""Aggregation: serves groups and versions of other API servers, which APIServices name, as kube-aggregator does."""
