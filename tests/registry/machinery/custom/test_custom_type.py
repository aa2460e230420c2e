"""Custom resources by their schema."""

from typing import Any

import pytest

from aio_apiserver.registry.machinery.custom.custom_type import CustomType
from aio_apiserver.registry.machinery.schema import builtin

METADATA = {"name": "Bar", "unknown": "unknown", "labels": "no map"}
RESOURCE = {"apiVersion": "foos/v1", "kind": "Foo", "metadata": METADATA}


def embedded(**more: Any) -> dict[str, Any]:
    properties = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    return {"type": "object", "x-kubernetes-embedded-resource": True, "properties": properties, **more}


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (embedded(default=RESOURCE), {}),
        (
            embedded(properties={"metadata": {"type": "object", "default": METADATA}}),
            {"field": {"apiVersion": "foos/v1", "kind": "Foo"}},
        ),
    ],
)
def test_defaults_of_resources_within_have_no_more_than_metadata_can_have(
    schema: dict[str, Any], sent: dict[str, Any]
) -> None:
    kind = CustomType(lambda: {"type": "object", "properties": {"field": schema}}, builtin())

    obj = kind.decode(sent).obj
    kind.apply_defaults(obj)

    assert obj["field"] == {"apiVersion": "foos/v1", "kind": "Foo", "metadata": {"name": "Bar"}}
