"""controllers: the reconciliation loops of kube-controller-manager, and a simulated cluster, in the server's process.

Optional: a server without --controllers and --simulate imports nothing of this but the names. One file a controller.
runtime/ has what they share, decisions/ has their pure functions, simulation/ is the cluster of --simulate.
"""
