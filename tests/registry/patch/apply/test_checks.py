"""Checks: what does not fit a type, in the words of structured merge."""

from typing import Any

import pytest

from registry.patch.apply import checks
from registry.patch.apply.shapes import Shapes
from tests.registry.patch.apply.things import TYPES, form_of

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
