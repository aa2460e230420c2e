"""Tests that long work on definitions and objects lets the event loop run other tasks."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import pytest

from aio_apiserver.registry.base.errors import Invalid
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from tests.registry.groups.apiextensions.customresourcedefinitions.test_controller import Server, request, serving
from tests.registry.groups.apiextensions.example_definitions import definition, version

T = TypeVar("T")

NUMBERS = {
    "type": "array",
    "maxItems": 1000,
    "items": {"type": "integer"},
    "x-kubernetes-validations": [{"rule": "self.all(a, self.all(b, a + b >= 0))"}],
}
TURNS = 300
"""More turns of the loop than one request takes, and far fewer than there are while a worker thread runs."""


async def turns_during(work: Awaitable[T]) -> int:
    """The number of turns of the event loop while the work runs."""
    task = asyncio.ensure_future(work)
    turns = 0
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    with pytest.raises(Invalid):
        await task
    return turns


async def test_a_definition_with_many_rules_does_not_block_the_loop() -> None:
    fields = {
        f"f{number}": {"type": "string", "x-kubernetes-validations": [{"rule": f"self != '{number}' && self.no()"}]}
        for number in range(300)
    }
    schema = {"type": "object", "properties": fields}
    async with StorageFactory(StorageConfig()) as factory, serving(factory) as server:
        defining = server.define(definition("widgets", version("v1", storage=True, schema=schema)))

        assert await turns_during(defining) > TURNS


async def test_an_expensive_object_does_not_block_the_loop() -> None:
    schema = {"type": "object", "properties": {"numbers": NUMBERS}}
    async with StorageFactory(StorageConfig()) as factory, serving(factory) as server:
        await server.define(definition("widgets", version("v1", storage=True, schema=schema), scope="Cluster"))
        await server.until("widgets.example.com", "Established", "True")
        obj: dict[str, Any] = {"metadata": {"name": "a"}, "numbers": list(range(1000))}

        assert await turns_during(_created(server, obj)) > TURNS


async def _created(server: Server, obj: dict[str, Any]) -> None:
    await server.store("widgets.example.com").create(request(), obj, CreateOptions())
