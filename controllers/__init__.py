"""Controllers: the reconciliation loops of kube-controller-manager, in the server's process.

They are optional: a server without --controllers and --simulate imports just the names. A folder has the controllers of
one family, a file each, and beside them the pure modules that decide. runtime/ has what all of them share.
"""
