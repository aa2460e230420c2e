"""The name and the namespace of an object against those of its URL."""

import pytest
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.generic import url_names
from aio_apiserver.registry.generic.kind import Kind
from tests.registry.generic.widgets import REQUEST, WIDGETS

PLANETS = Kind(group="example.com", plural="planets", kind="Planet", is_namespaced=False)


@pytest.mark.parametrize(
    ("kind", "given", "settled"),
    [
        (WIDGETS, {"name": "a"}, {"name": "a", "namespace": "n"}),
        (WIDGETS, {"name": "a", "namespace": "n"}, {"name": "a", "namespace": "n"}),
        (PLANETS, {"name": "a", "namespace": "other"}, {"name": "a"}),
    ],
)
def test_an_object_gets_the_namespace_of_its_url(kind: Kind, given: Object, settled: Object) -> None:
    obj = {"metadata": dict(given)}

    url_names.settle(obj, REQUEST, kind, "a")

    assert obj["metadata"] == settled


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ({"name": "a", "namespace": "other"}, "the namespace of the provided object does not match the namespace sent"),
        ({"name": "b"}, r"the name of the object \(b\) does not match the name on the URL \(a\)"),
        ({}, r"the name of the object \(a based on URL\) was undeterminable: name must be provided"),
    ],
)
def test_an_object_that_is_another_than_its_url_says_is_refused(metadata: Object, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        url_names.settle({"metadata": metadata}, replace(REQUEST, namespace="n"), WIDGETS, "a")
