"""Endpoints: paths beside the resources: health, discovery, OpenAPI, metrics, version, debugging, OIDC."""
