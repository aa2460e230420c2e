"""media_types: the formats of objects, watches and patches, by their names in HTTP headers.

Negotiation, the reading of bodies, patches and OpenAPI all take them from here. Must hold: each tuple is in the order
in which kube-apiserver lists its types in errors and documents.
"""

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
OF_OBJECTS = (JSON, YAML, PROTOBUF)
STREAMS = (f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
OF_COLLECTIONS = (*OF_OBJECTS, *STREAMS)
"""What is written at a path that can be listed and watched."""

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH)
CUSTOM_PATCHES = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
"""What custom resources take: they have no Go types to merge by."""
