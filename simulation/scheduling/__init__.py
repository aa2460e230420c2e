"""scheduling: the decisions of kube-scheduler: filters, scores and preemption, on a view of the cluster. Pure."""
