"""OpenAPI: what kube-apiserver publishes of its resources, as version 2 and version 3 documents. Pure: no HTTP."""
