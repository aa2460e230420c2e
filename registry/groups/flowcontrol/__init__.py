"""flowcontrol.apiserver.k8s.io: priority and fairness of requests."""
