"""Scales: views of the replicas of other objects."""

from typing import Any

import pytest
from msgspec.structs import replace

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.kind import Scale
from aio_apiserver.registry.generic.options import UpdateOptions
from aio_apiserver.registry.generic.rest import Made, UpdatedObject
from aio_apiserver.registry.generic.store.scale import ScaleREST
from aio_apiserver.registry.machinery.selectors.texts import selector_text
from aio_apiserver.storage.stored_object import StoredObject
from tests.registry.generic.widgets import REQUEST, WIDGETS, create, widgets


def scaling(replicas: int, **metadata: Any) -> UpdatedObject:
    async def make(current: StoredObject | None) -> Made:
        assert current is not None
        scale = current.decode()
        scale["spec"] = {"replicas": replicas}
        scale["metadata"].update(metadata)
        return Made(scale)

    return UpdatedObject(make)


async def test_a_scale_changes_nothing_but_replicas() -> None:
    async with widgets() as plain:
        store = replace(plain, kind=replace(WIDGETS, scale=Scale()))
        await create(store, labels={"a": "b"})

        result = await ScaleREST(store).update(REQUEST, "a", scaling(3), UpdateOptions())

        parent = (await store.get(REQUEST, "a")).decode()
    assert result.stored.decode()["spec"] == {"replicas": 3}
    assert parent["spec"] == {"count": 1, "replicas": 3}
    assert parent["metadata"]["labels"] == {"a": "b"}


@pytest.mark.parametrize(
    ("updated", "refusal"),
    [
        (scaling(-1), errors.Invalid),
        (scaling(1, labels={"a b": "c"}), errors.Invalid),
        (scaling(1, uid="x"), errors.Conflict),
        (scaling(1, resourceVersion="1"), errors.Conflict),
    ],
)
async def test_a_scale_that_does_not_fit_is_refused(updated: UpdatedObject, refusal: type[Exception]) -> None:
    async with widgets() as plain:
        store = replace(plain, kind=replace(WIDGETS, scale=Scale()))
        await create(store)

        with pytest.raises(refusal):
            await ScaleREST(store).update(REQUEST, "a", updated, UpdateOptions())


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (None, ""),
        ("a=b", "a=b"),
        ({"b": "2", "a": "1"}, "a=1,b=2"),
        ({"matchLabels": {"a": "b"}}, "a=b"),
        ({"matchExpressions": [{"key": "k", "operator": "In", "values": ["y", "x"]}]}, "k in (x,y)"),
        ({"matchExpressions": [{"key": "k", "operator": "Exists"}], "matchLabels": {"a": "b"}}, "a=b,k"),
        ({"matchExpressions": [{"key": "k", "operator": "DoesNotExist"}]}, "!k"),
    ],
)
def test_a_selector_is_shown_as_text(selector: Any, text: str) -> None:
    assert selector_text(selector) == text
