"""Tests properties of the validation of all pods that the schema allows."""

import copy
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.groups.core.pods import pods_ephemeralcontainers, pods_resize
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.pods.pods_status import PodStatusStrategy
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import DecodeError
from aio_apiserver.registry.machinery.schema.model import SchemaKind, SchemaNode
from tests.registry.defaulted import CONTEXT, canonical, created, updated

POD = schema.builtin().type_for("", "v1", "Pod")
PRIVILEGED = StrategyContext(namespace="default", allows_privileged=True)

WORDS = """
    a x-1 c v 0 1 -1 1Gi 100m 10.0.0.1 ::1 010.0.0.1 /a a/../b .. a.b example.com/a Bad_Name $(A) localhost/x
    Always Never OnFailure IfNotPresent File TCP UDP HTTP In NotIn Exists DoesNotExist Gt Equal NoExecute NoSchedule
    ClusterFirst None Default Localhost RuntimeDefault Unconfined linux windows Honor DoNotSchedule Bidirectional
    HostToContainer Enabled v1 metadata.name metadata.labels['a'] limits.cpu requests.memory cpu memory hugepages-2Mi
    NotRequired RestartContainer Restart RestartAllContainers Running Succeeded Ready True Unmasked Recursive
    net.a kernel.sem
""".split()
TEXTS = st.sampled_from(["", *WORDS])
LEAVES: dict[SchemaKind, st.SearchStrategy[Any]] = {
    SchemaKind.STRING: TEXTS,
    SchemaKind.INTEGER: st.sampled_from([-1, 0, 1, 80, 443, 512, 65536, 2**31]),
    SchemaKind.BOOLEAN: st.booleans(),
    SchemaKind.QUANTITY: st.sampled_from(["1", "100m", "1Gi", "0", "-1", "1.5", "8Ei"]),
    SchemaKind.TIME: st.just("2024-01-02T03:04:05Z"),
    SchemaKind.INT_OR_STRING: st.sampled_from([0, 80, "http", "", "Bad_Name"]),
}
# Fields that the schema never fills, and paths that are no fields, as kube-apiserver reports them.
MISNAMED = {
    "Type": "type",
    "HostPID": "hostPID",
    "HostIPC": "hostIPC",
    "cephFS": "cephfs",
    "downwarAPI": "downwardAPI",
    "persistentDisk": "gcePersistentDisk",
    "initiatorname": "initiatorName",
    "namespace": "namespaces",
    "shareProcessNamespace": "runAsUser",
    "uID": "uid",
}

SHORTENED = (
    (r"spec\.resources\.containers", "spec.containers.resources"),
    (r"downwardAPI\.(path|mode|fieldRef|resourceFieldRef)", r"downwardAPI.items.\1"),
    (r"projected\.path", "projected.sources.serviceAccountToken.path"),
    (r"csi\.name", "csi.nodePublishSecretRef.name"),
    (r"Status\.requestName", "Status.requestMappings.requestName"),
)
"""Error paths that differ from the path of the field, as in kube-apiserver."""


def values(node: SchemaNode, depth: int) -> st.SearchStrategy[Any]:
    """The values that the schema allows."""
    if node.structure is not None:
        names = sorted(node.structure.fields) if depth else []
        chosen = st.lists(st.sampled_from(names), max_size=5, unique=True) if names else st.just([])
        return chosen.flatmap(lambda some: st.fixed_dictionaries({name: field(node, name, depth) for name in some}))
    if node.items is not None:
        inner = values(node.items, depth - 1) if depth else st.nothing()
        if node.kind is SchemaKind.LIST:
            return st.lists(inner, max_size=3) if depth else st.just([])
        return st.dictionaries(TEXTS, inner, max_size=2) if depth else st.just({})
    return LEAVES.get(node.kind, st.none())


def field(node: SchemaNode, name: str, depth: int) -> st.SearchStrategy[Any]:
    assert node.structure is not None
    return values(node.structure.fields[name].node, max(depth - 1, 0))


def part(name: str) -> SchemaNode:
    assert POD.node.structure is not None
    return POD.node.structure.fields[name].node


CONTAINER = {"name": "c", "image": "nginx"}
specs = values(part("spec"), 6).map(lambda spec: {**spec, "containers": spec.get("containers") or [CONTAINER]})
metadata = st.fixed_dictionaries(
    {}, optional={name: st.dictionaries(TEXTS, TEXTS, max_size=2) for name in ("labels", "annotations")}
).map(lambda drawn: {"name": "a", "namespace": "default", **drawn})
pods = st.fixed_dictionaries({"metadata": metadata, "spec": specs}, optional={"status": values(part("status"), 4)})


def decoded(pod: dict[str, Any]) -> dict[str, Any] | None:
    """The pod as a create decodes it; None when it cannot be decoded."""
    try:
        return created(PODS, copy.deepcopy(pod))
    except DecodeError:
        return None


def is_field(path: str, node: SchemaNode) -> bool:
    """Whether the path of an error names a field."""
    for token in re.findall(r"\[[^\]]*\]|\{[^}]*\}|[^.\[\]{}]+(?:/[^.\[]+)*", path):
        if token[0] in "[{":
            continue
        while node.structure is None and node.items is not None:
            node = node.items
        if node.structure is None:
            return True
        known = node.structure.fields.get(token) or node.structure.fields.get(MISNAMED.get(token, ""))
        if known is None:
            return False
        node = known.node
    return True


def assert_errors_name_fields(errors: list[FieldError]) -> None:
    """Check that error paths name fields. `[]` is the pod itself."""
    for error in errors:
        path = error.path.partition(".annotations")[0]
        for short, whole in SHORTENED:
            path = re.sub(short, whole, path)
        assert path == "[]" or is_field(path, POD.node), path
        assert error.body


@given(pods)
@settings(max_examples=200, deadline=None)
def test_a_pod_is_refused_by_its_fields_or_its_update_with_itself_changes_nothing(pod: dict[str, Any]) -> None:
    old = decoded(pod)
    if old is None:
        return

    errors = PODS.strategy.validate_metadata_again(old) + PODS.strategy.validate(PRIVILEGED, old)

    assert_errors_name_fields(errors)
    if errors:
        return
    PODS.strategy.warnings_on_create(PRIVILEGED, old)
    new = canonical(PODS, updated(PODS, old, copy.deepcopy({name: old[name] for name in ("metadata", "spec")})))
    assert PODS.strategy.validate_update(PRIVILEGED, new, old) == []
    assert new == old


@given(pods, pods, st.sampled_from(["update", "status", "resize", "ephemeralcontainers"]))
@settings(max_examples=150, deadline=None)
def test_the_errors_of_any_update_name_fields(pod: dict[str, Any], other: dict[str, Any], subresource: str) -> None:
    old, new = decoded(pod), decoded(other)
    if old is None or new is None:
        return
    strategy = {
        "update": PODS.strategy,
        "status": PodStatusStrategy(),
        "resize": pods_resize.STRATEGY,
        "ephemeralcontainers": pods_ephemeralcontainers.STRATEGY,
    }[subresource]
    new["status"] = other.get("status") or {}

    strategy.prepare_for_update(CONTEXT, new, old)

    assert_errors_name_fields(strategy.validate_update(CONTEXT, new, old))
