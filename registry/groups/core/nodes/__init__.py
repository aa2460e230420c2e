"""Nodes: the machines of a cluster, as kubelets report them."""
