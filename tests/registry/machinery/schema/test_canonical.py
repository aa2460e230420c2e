"""Canonical output: what is printed, left out, filled in and ordered."""

from typing import Any

import orjson
import pytest

from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import ObjectType, canonical


def kind(group: str, version: str, name: str) -> ObjectType:
    return schema.builtin().type_for(group, version, name)


POD = kind("", "v1", "Pod")
DEPLOYMENT = kind("apps", "v1", "Deployment")


def test_structs_are_always_printed_and_pointers_when_they_are_there() -> None:
    printed = DEPLOYMENT.canonical({})

    assert printed == {
        "metadata": {},
        "spec": {"selector": None, "template": {"metadata": {}, "spec": {"containers": None}}, "strategy": {}},
        "status": {},
    }


def test_keys_come_in_the_order_of_go_and_of_maps_sorted() -> None:
    obj = {
        "spec": {"containers": [{"resources": {"limits": {"memory": "1", "cpu": "1"}}, "image": "i", "name": "c"}]},
        "metadata": {"labels": {"b": "", "a": "", "B": ""}, "namespace": "n", "name": "p"},
        "apiVersion": "v1",
        "kind": "Pod",
    }

    printed = orjson.dumps(POD.canonical(obj)).decode()

    assert printed == (
        '{"kind":"Pod","apiVersion":"v1",'
        '"metadata":{"name":"p","namespace":"n","labels":{"B":"","a":"","b":""}},'
        '"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1","memory":"1"}}}]},'
        '"status":{}}'
    )


def test_zeros_that_rules_have_set_are_left_out_unless_they_are_pointers() -> None:
    obj = {"spec": {"replicas": 0, "paused": False}, "status": {"replicas": 0, "collisionCount": 0, "conditions": []}}

    printed = DEPLOYMENT.canonical(obj)

    assert printed["spec"]["replicas"] == 0
    assert "paused" not in printed["spec"]
    assert printed["status"] == {"collisionCount": 0}


def test_required_members_are_printed_when_they_are_empty() -> None:
    assert POD.canonical({"spec": {"containers": [{"ports": [{}]}]}})["spec"] == {
        "containers": [{"name": "", "ports": [{"containerPort": 0}], "resources": {}}]
    }


@pytest.mark.parametrize("rules", [None, []])
def test_empty_lists_are_null_in_what_is_stored_as_protobuf(rules: Any) -> None:
    printed = kind("rbac.authorization.k8s.io", "v1", "Role").canonical({"rules": rules})

    assert printed == {"metadata": {}, "rules": None}


def test_empty_lists_stay_in_what_is_stored_as_json() -> None:
    crd = kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")

    status = crd.canonical({"status": {"conditions": [], "storedVersions": []}})["status"]

    assert status == {"conditions": [], "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": []}


def test_lists_of_objects_have_items_even_when_there_are_none() -> None:
    assert kind("", "v1", "PodList").canonical({"items": []}) == {"metadata": {}, "items": []}


def test_times_that_are_no_pointers_print_null() -> None:
    condition = {"type": "Ready", "status": "True"}

    assert POD.canonical({"status": {"conditions": [condition]}})["status"]["conditions"] == [
        {"type": "Ready", "status": "True", "lastProbeTime": None, "lastTransitionTime": None}
    ]


def test_the_creation_timestamp_is_left_out_when_it_is_zero() -> None:
    assert POD.canonical({})["metadata"] == {}


def test_what_is_printed_shares_no_objects() -> None:
    obj: dict[str, Any] = {"spec": {"containers": [{"name": "c"}]}}

    printed = POD.canonical(obj)
    printed["spec"]["containers"][0]["name"] = "changed"

    assert obj == {"spec": {"containers": [{"name": "c"}]}}


def test_more_shapes_than_are_remembered_print_alike() -> None:
    names = ["terminationMessagePath", "image", "workingDir", "imagePullPolicy", "terminationMessagePolicy"]
    subsets = [[name for bit, name in enumerate(names) if mask >> bit & 1] for mask in range(32)]
    shapes = [one + other for one in subsets for other in subsets if not set(one) & set(other)]
    assert len(set(map(tuple, shapes))) < canonical.MAX_SHAPES * 2

    for shape in [*shapes, *map(list, map(reversed, shapes))]:
        printed = POD.canonical({"spec": {"containers": [dict.fromkeys(shape, "x")]}})

        assert printed["spec"]["containers"][0] == {"name": "", "resources": {}, **dict.fromkeys(shape, "x")}
