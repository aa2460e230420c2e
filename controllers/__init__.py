"""Controllers: the reconciliation loops of kube-controller-manager, and a simulated cluster, in the server's process.

They are optional: a server without --controllers and --simulate imports just the names. There is one file for each
controller. runtime/ has their common parts, decisions/ their pure functions, simulation/ the cluster of --simulate.
"""
