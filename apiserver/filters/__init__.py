"""Filters: the filter chain of kube-apiserver, one filter a file. app.py lists them in their order."""
