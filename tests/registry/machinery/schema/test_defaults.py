"""Defaults that schemas state, of built-in types and of custom resources."""

from typing import Any

from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.custom import custom
from aio_apiserver.registry.machinery.schema.defaults import Defaulters

POD = schema.builtin().type_for("", "v1", "Pod")


def completed(stated: dict[str, Any], value: Any) -> Any:
    fill = Defaulters().of(custom.compiled(stated))
    if fill is not None:
        fill(value)
    return value


def test_ports_of_pods_are_tcp() -> None:
    pod = {"spec": {"containers": [{"ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}]}]}}

    POD.apply_defaults(pod)

    assert pod["spec"]["containers"][0]["ports"] == [
        {"containerPort": 80, "protocol": "TCP"},
        {"containerPort": 53, "protocol": "UDP"},
    ]


def test_volumes_get_the_defaults_of_their_sources() -> None:
    pod = {"spec": {"volumes": [{"iscsi": {}}, {"rbd": {"user": "me"}}, {"emptyDir": {}}]}}

    POD.apply_defaults(pod)

    assert pod["spec"]["volumes"] == [
        {"iscsi": {"iscsiInterface": "default"}},
        {"rbd": {"user": "me", "pool": "rbd", "keyring": "/etc/ceph/keyring"}},
        {"emptyDir": {}},
    ]


def test_defaults_are_never_shared() -> None:
    replica_controller = schema.builtin().type_for("", "v1", "ReplicationController")
    one: dict[str, Any] = {"spec": {}}

    replica_controller.apply_defaults(one)

    assert one == {"spec": {"replicas": 1}}


def test_types_without_defaults_stay_as_they_are() -> None:
    config_map: dict[str, Any] = {"data": {"a": "b"}}

    schema.builtin().type_for("", "v1", "ConfigMap").apply_defaults(config_map)

    assert config_map == {"data": {"a": "b"}}


def test_missing_and_null_members_get_their_default() -> None:
    stated = {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "default": 1},
            "b": {"type": "integer", "default": 2},
            "c": {"type": "integer", "nullable": True, "default": 3},
            "d": {"type": "integer"},
        },
    }

    assert completed(stated, {"b": None, "c": None, "d": None}) == {"a": 1, "b": 2, "c": None, "d": None}


def test_defaults_are_completed_by_the_defaults_within() -> None:
    stated = {
        "type": "object",
        "properties": {
            "o": {"type": "object", "default": {}, "properties": {"x": {"type": "string", "default": "y"}}},
            "p": {"type": "object", "properties": {"x": {"type": "string", "default": "y"}}},
        },
    }

    assert completed(stated, {}) == {"o": {"x": "y"}}


def test_elements_and_values_get_defaults() -> None:
    inner = {"type": "object", "default": {"k": 0}, "properties": {"z": {"type": "integer", "default": 1}}}
    stated = {
        "type": "object",
        "properties": {"l": {"type": "array", "items": inner}, "m": {"type": "object", "additionalProperties": inner}},
    }

    value = completed(stated, {"l": [None, {}], "m": {"a": None, "b": {"z": 5}}})

    assert value == {"l": [{"k": 0, "z": 1}, {"z": 1}], "m": {"a": {"k": 0, "z": 1}, "b": {"z": 5}}}


def test_each_place_has_a_default_of_its_own() -> None:
    stated = {"type": "array", "items": {"type": "object", "default": {"list": []}}}

    first, second = completed(stated, [None, None])
    first["list"].append(1)

    assert second == {"list": []}


def test_values_of_another_type_are_left_alone() -> None:
    stated = {"type": "object", "properties": {"l": {"type": "array", "items": {"default": 1}}, "a": {"default": 1}}}

    assert completed(stated, []) == []
    assert completed(stated, {"l": "x", "a": 2}) == {"l": "x", "a": 2}
