import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver.serializers import protobuf
from apiserver.serializers.protobuf.encoding import Malformed, read_varint, signed, varint
from registry.names import GroupVersionKind
from registry.schema import builtin

TYPES = builtin()
POD = GroupVersionKind("", "v1", "Pod")
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")


def there_and_back(value: dict[str, Any], kind: GroupVersionKind) -> dict[str, Any]:
    return protobuf.to_value(protobuf.dump(value, TYPES), TYPES, kind)


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

    assert there_and_back(pod, POD) == pod


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


@given(st.binary(max_size=200))
def test_no_bytes_do_worse_than_being_refused(data: bytes) -> None:
    with contextlib.suppress(Malformed):
        protobuf.to_value(b"k8s\x00\x12" + varint(len(data)) + data, TYPES, POD)


@given(st.integers(min_value=-(2**63), max_value=2**63 - 1))
def test_every_number_reads_back(number: int) -> None:
    encoded = varint(number)

    assert signed(read_varint(encoded, 0)[0]) == number
    assert read_varint(encoded, 0)[1] == len(encoded)
