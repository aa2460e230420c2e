"""Resources to write documents of."""

from typing import Any

import orjson

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.openapi.builtin import GroupVersion
from aio_apiserver.registry.machinery.openapi.builtin_routes import Resource

ALL = frozenset({"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"})
POD = GroupVersionKind("", "v1", "Pod")

PODS = Resource(
    path="pods",
    kind="Pod",
    is_namespaced=True,
    object_kind=POD,
    definition="io.k8s.api.core.v1.Pod",
    verbs=ALL,
    returns_deleted_object=True,
)
NODES = Resource(
    path="nodes",
    kind="Node",
    is_namespaced=False,
    object_kind=GroupVersionKind("", "v1", "Node"),
    definition="io.k8s.api.core.v1.Node",
    verbs=ALL,
)
POD_EXEC = Resource(
    path="pods/exec",
    kind="Pod",
    is_namespaced=True,
    object_kind=GroupVersionKind("", "v1", "PodExecOptions"),
    definition="",
    verbs=frozenset({"create", "get"}),
)
POD_LOG = Resource(
    path="pods/log",
    kind="Pod",
    is_namespaced=True,
    object_kind=POD,
    definition="io.k8s.api.core.v1.Pod",
    verbs=frozenset({"get"}),
)
EVICTION = Resource(
    path="pods/eviction",
    kind="Pod",
    is_namespaced=True,
    object_kind=GroupVersionKind("policy", "v1", "Eviction"),
    definition="io.k8s.api.policy.v1.Eviction",
    verbs=frozenset({"create"}),
)


def core(*resources: Resource) -> GroupVersion:
    """The core group with some resources."""
    return GroupVersion("", "v1", "1.36", resources)


def read(document: dict[str, Any]) -> dict[str, Any]:
    """A document as clients read it."""
    value: dict[str, Any] = orjson.loads(orjson.dumps(document))
    return value
