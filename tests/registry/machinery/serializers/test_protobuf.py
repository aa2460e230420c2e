import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import Malformed, read_varint, signed, varint

TYPES = builtin()
POD = GroupVersionKind("", "v1", "Pod")
CRD = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")


def there_and_back(value: dict[str, Any], kind: GroupVersionKind) -> dict[str, Any]:
    return canonical(protobuf.to_value(protobuf.dump(value, TYPES), TYPES, kind), kind)


def canonical(value: dict[str, Any], kind: GroupVersionKind) -> dict[str, Any]:
    """A value without null and empty members: protobuf does not distinguish them from missing ones."""
    known = TYPES.type_for(kind.group, kind.version, kind.kind)
    return known.canonical(known.decode(value).obj)


def test_an_object_reads_back_as_it_was_written() -> None:
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": "web",
            "labels": {"app": "web", "tier": ""},
            "creationTimestamp": "2024-05-06T07:08:09Z",
            "generation": 3,
            "finalizers": ["a.example/x", "b.example/y"],
        },
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "nginx",
                    "resources": {"limits": {"cpu": "100m", "memory": "64Mi"}},
                    "readinessProbe": {"httpGet": {"port": "http", "path": "/"}, "periodSeconds": 5},
                    "ports": [{"containerPort": 80}],
                }
            ],
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
        },
    }

    assert there_and_back(pod, POD) == canonical(pod, POD)


def test_a_status_has_the_bytes_of_kube_apiserver() -> None:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "gone",
        "reason": "NotFound",
        "code": 404,
    }

    type_meta = b"\n\x0c\n\x02v1\x12\x06Status"
    body = b'\n\x06\n\0\x12\0\x1a\0\x12\x07Failure\x1a\x04gone"\x08NotFound0\x94\x03'
    assert protobuf.dump(status, TYPES) == b'k8s\0%b\x12\x24%b\x1a\0"\0' % (type_meta, body)


def test_whatever_has_no_value_can_be_written() -> None:
    for definition, schema in TYPES.definitions.items():
        for one in schema.get("x-kubernetes-group-version-kind", ()):
            kind = GroupVersionKind(one["group"], one["version"], one["kind"])
            empty = {"kind": kind.kind, "apiVersion": kind.api_version}

            assert protobuf.dump(empty, TYPES).startswith(b"k8s\0"), definition


def test_members_of_embedded_structs_stand_beside_the_others() -> None:
    volume = {"name": "v", "configMap": {"name": "settings", "defaultMode": 420}}
    pod = {"kind": "Pod", "apiVersion": "v1", "spec": {"volumes": [volume]}}

    assert there_and_back(pod, POD)["spec"]["volumes"] == [volume]


def test_a_number_and_a_text_keep_apart_where_both_are_possible() -> None:
    update = {"maxSurge": "25%", "maxUnavailable": 1}
    deployment = {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": update}},
    }

    assert there_and_back(deployment, DEPLOYMENT)["spec"]["strategy"]["rollingUpdate"] == update


@pytest.mark.parametrize(
    "part",
    [
        {"items": {"type": "string"}},
        {"additionalProperties": False},
        {"additionalProperties": True},
        {"additionalProperties": {"type": "string"}},
        {"properties": {"a": {"type": "object", "default": {"b": [1, None]}}}},
        {"type": "number", "minimum": 0, "maximum": 2.5, "multipleOf": -1e300},
        {"type": "string", "minLength": 1, "maxLength": 2**40, "nullable": True},
    ],
)
def test_a_json_schema_reads_back_as_it_was_written(part: dict[str, Any]) -> None:
    names = {"plural": "shirts", "kind": "Shirt"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": part}}
    crd = {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "spec": {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]},
    }

    assert there_and_back(crd, CRD) == canonical(crd, CRD)


def test_only_kubernetes_own_types_have_messages() -> None:
    assert protobuf.has_message(POD, TYPES)
    assert not protobuf.has_message(GroupVersionKind("example.com", "v1", "Shirt"), TYPES)


def test_an_unknown_field_is_skipped() -> None:
    body = protobuf.dump({"kind": "ConfigMap", "apiVersion": "v1", "data": {"a": "b"}}, TYPES)

    assert protobuf.to_value(body + b"\xfa\x3f\x01x", TYPES, POD)["data"] == {"a": "b"}


@pytest.mark.parametrize(
    "body", [b"", b"k8s", b"{}", b"k8s\x00\x0a\x05abc", b"k8s\x00\xff\xff\xff\xff", b"k8s\x00\x0f"]
)
def test_bytes_that_are_no_object_are_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        protobuf.to_value(body, TYPES, POD)


@pytest.mark.parametrize(
    ("envelope", "says"),
    [
        (b"\x20\x01", "wrong wireType = 0 for field ContentType"),
        (b"\x0b", "wrong wireType = 3 for field TypeMeta"),
        (b"\x0a\x02\x10\x01", "wrong wireType = 0 for field Kind"),
        (b"\x00\x00", "Unknown: illegal tag 0 (wire type 0)"),
        (b"\x0c", "Unknown: wiretype end group for non-group"),
        (b"\x12" + b"\xff" * 9 + b"\x01a", "negative length found during unmarshaling"),
    ],
)
def test_an_envelope_that_is_none_is_refused_in_the_words_of_go(envelope: bytes, says: str) -> None:
    with pytest.raises(Malformed) as refusal:
        protobuf.to_value(b"k8s\x00" + envelope, TYPES, POD)

    assert str(refusal.value) == f"proto: {says}"


@given(st.binary(max_size=200))
def test_no_bytes_do_worse_than_being_refused(data: bytes) -> None:
    with contextlib.suppress(Malformed):
        protobuf.to_value(b"k8s\x00\x12" + varint(len(data)) + data, TYPES, POD)


@given(st.integers(min_value=-(2**63), max_value=2**63 - 1))
def test_every_number_reads_back(number: int) -> None:
    encoded = varint(number)

    assert signed(read_varint(encoded, 0)[0]) == number
    assert read_varint(encoded, 0)[1] == len(encoded)
