"""A light cluster: nodes that are not there, a scheduler, and a kubelet that lets pods go through their phases."""
