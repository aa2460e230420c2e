"""Nodes: the controllers of nodes in trouble and of pods that their nodes have left, with their decisions."""
