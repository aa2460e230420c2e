"""Checks: what does not fit a type, in the words of structured merge."""

from typing import Any

import pytest

from aio_apiserver.registry.machinery.patch.apply import checks, contents
from aio_apiserver.registry.machinery.patch.apply.shapes import Shapes
from tests.registry.machinery.patch.apply.things import TYPES, form_of

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {"type": "object", "properties": {"name": TEXT, "n": NUMBER}},
}
SET = {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}
SPEC = {"type": "object", "properties": {"t": TEXT, "n": NUMBER, "b": FLAG, "keyed": KEYED, "set": SET}}
OMITTED = (
    'associative list with keys has an element that omits all key fields ["name"] '
    "(and doesn't have default values for any key fields)"
)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"t": 5}, ".spec.t: expected string, got &value.valueUnstructured{Value:5}"),
        ({"t": {"a": ["b"]}}, '.spec.t: expected string, got &value.valueUnstructured{Value:map[string]interface {}'
         '{"a":[]interface {}{"b"}}}'),
        ({"n": "x"}, ".spec.n: expected numeric (int or float), got string"),
        ({"n": True}, ".spec.n: expected numeric (int or float), got bool"),
        ({"b": 1}, ".spec.b: expected boolean, got &{1}"),
        ({"keyed": "x"}, ".spec.keyed: expected list, got &{x}"),
        ({"keyed": [{"n": 1}]}, f".spec.keyed: element 0: {OMITTED}"),
        ({"keyed": [{"name": "a"}, None]},
         ".spec.keyed: element 1: associative list with keys may not have a null element"),
        ({"keyed": [{"name": "a"}, {"name": "a"}]}, '.spec.keyed: duplicate entries for key [name="a"]'),
        ({"keyed": [{"name": "a", "n": "x"}]}, '.spec.keyed[name="a"].n: expected numeric (int or float), got string'),
        ({"set": ["a", "a"]}, '.spec.set: duplicate entries for key [="a"]'),
        ({"set": [{}]}, ".spec.set: element 0: associative list without keys has an element that's a map type"),
        ({"odd": 1}, ".spec.odd: field not declared in schema"),
        ([], ".spec: expected map, got &{[]}"),
        ({"n": "x", "t": 1}, "errors:\n  .spec.n: expected numeric (int or float), got string\n"
         "  .spec.t: expected string, got &value.valueUnstructured{Value:1}"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(spec: Any, told: str) -> None:
    assert checks.summary(checks.misfits(form_of(SPEC).shape, {"spec": spec})) == told


def test_nulls_and_duplicates_may_be_allowed() -> None:
    shape = form_of(SPEC).shape

    assert not checks.misfits(shape, {"spec": {"t": None, "keyed": None, "b": None}})
    assert not checks.misfits(shape, {"spec": {"set": ["a", "a"]}}, allows_duplicates=True)


def test_required_keys_of_kubernetes_own_types_have_a_zero_value() -> None:
    shape = Shapes().of(TYPES.type_for("", "v1", "Pod").node)
    spec = {"containers": [{"ports": [{}, {"containerPort": 0}]}], "imagePullSecrets": [{}]}

    found = checks.misfits(shape, {"spec": spec})

    assert [str(one) for one in found] == [
        '.spec.containers[name=""].ports: duplicate entries for key [containerPort=0,protocol="TCP"]'
    ]


def test_resources_within_custom_resources_have_the_metadata_of_all_objects() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"x": TEXT}}
    shape = form_of({"type": "object", "properties": {"e": embedded}}).shape
    inner = {"apiVersion": "v1", "kind": "X", "metadata": {"finalizers": ["a"], "labels": {"l": "1"}}, "x": "1"}

    found = contents.field_set(shape, {"spec": {"e": inner}})

    assert not checks.misfits(shape, {"metadata": {"finalizers": []}, "spec": {"e": inner}})
    assert found["f:spec"]["f:e"]["f:metadata"] == {"f:finalizers": {'v:"a"': {}}, "f:labels": {"f:l": {}}}


def test_what_is_preserved_is_preserved_all_the_way_down() -> None:
    inner = {"type": "object", "properties": {"known": TEXT}}
    spec: Any = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"in": inner}}
    free = {"x-kubernetes-int-or-string": True}
    shape = form_of({**spec, "properties": {**spec["properties"], "free": free}}).shape
    value = {"spec": {"odd": {"a": [1]}, "in": {"known": "1", "odd": 2}, "free": 5}}

    assert not checks.misfits(shape, value)
    assert contents.field_set(shape, value)["f:spec"] == {
        "f:free": {},
        "f:in": {"f:known": {}, "f:odd": {}},
        "f:odd": {".": {}, "f:a": {}},
    }
