"""Fields whose feature gates are closed."""

from typing import Any

import pytest

from aio_apiserver.registry.generic import gated_fields


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("a.b", {"a": {}, "l": [{"x": 1}, {"y": 2}], "m": {"k": {"z": 3}}}),
        ("l[].x", {"a": {"b": 1}, "l": [{}, {"y": 2}], "m": {"k": {"z": 3}}}),
        ("l[x]", {"a": {"b": 1}, "l": [{"y": 2}], "m": {"k": {"z": 3}}}),
        ("m{}.z", {"a": {"b": 1}, "l": [{"x": 1}, {"y": 2}], "m": {"k": {}}}),
        ("a.b!=1", {"a": {}, "l": [{"x": 1}, {"y": 2}], "m": {"k": {"z": 3}}}),
        ("a?b", {"l": [{"x": 1}, {"y": 2}], "m": {"k": {"z": 3}}}),
        ("nothing.here", {"a": {"b": 1}, "l": [{"x": 1}, {"y": 2}], "m": {"k": {"z": 3}}}),
    ],
)
def test_a_field_is_dropped_where_its_path_leads(path: str, left: Any) -> None:
    obj: dict[str, Any] = {"a": {"b": 1}, "l": [{"x": 1}, {"y": 2}], "m": {"k": {"z": 3}}}

    gated_fields.drop(obj, [path])

    assert obj == left


def test_a_field_that_the_stored_object_uses_stays() -> None:
    new: dict[str, Any] = {"l": [{"x": 1}, {"x": 2}]}

    gated_fields.drop(new, ["l[].x"], {"l": [{"x": 0}]})

    assert new == {"l": [{"x": 1}, {"x": 2}]}
