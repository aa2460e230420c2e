"""An operator with kr8s. It writes a config map for each Greeting."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import kr8s.asyncio
from kr8s.asyncio.objects import ConfigMap, new_class

Greeting: Any = new_class("Greeting", version="example.com/v1", namespaced=True)
LABEL = "example.com/greeting"


class Operator:
    """Reconciles the greetings of one namespace."""

    def __init__(self, api: Any, namespace: str = "default") -> None:
        self._api = api
        self._namespace = namespace

    async def run(self) -> None:
        """Reconcile until cancelled. After the end of a watch the operator lists again.

        The watch begins at a version before the list, so that it has every deletion after the list.
        """
        while True:
            version = await self._version()
            await self.resync()
            try:
                await self._follow(version)
            except (kr8s.ServerError, httpx.TransportError):
                continue

    async def resync(self) -> None:
        """Reconcile all greetings, and delete the config maps of deleted ones."""
        names = set()
        async for greeting in self._api.async_get(Greeting, namespace=self._namespace):
            names.add(greeting.name)
            await self.sync(greeting)
        async for found in self._api.async_get(ConfigMap, namespace=self._namespace, label_selector=LABEL):
            if found.name not in names:
                await self.remove(found.name)

    async def sync(self, greeting: Any) -> None:
        """Reconcile one greeting."""
        wanted = self._child(greeting.name, f"Hello, {greeting.spec.who}!")
        try:
            await wanted.create()
        except kr8s.ServerError as exc:
            if exc.response is None or exc.response.status_code != 409:
                raise
            await wanted.patch({"data": wanted.raw["data"]})

    async def remove(self, name: str) -> None:
        """Delete the config map of a deleted greeting."""
        child = self._child(name, "")
        if await child.exists():
            await child.delete()

    async def _follow(self, version: str) -> None:
        async for kind, greeting in self._api.async_watch(Greeting, namespace=self._namespace, since=version):
            await (self.remove(greeting.name) if kind == "DELETED" else self.sync(greeting))

    async def _version(self) -> str:
        """The present resource version of the greetings."""
        async with self._api.call_api(
            "GET", version="example.com/v1", url="greetings", namespace=self._namespace, params={"limit": 1}
        ) as response:
            version: str = response.json()["metadata"]["resourceVersion"]
            return version

    def _child(self, name: str, text: str) -> Any:
        metadata = {"name": name, "namespace": self._namespace, "labels": {LABEL: name}}
        return ConfigMap(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"text": text}}, api=self._api
        )


@asynccontextmanager
async def running(operator: Operator) -> AsyncIterator[None]:
    """Run the operator in a task until the context ends."""
    task = asyncio.create_task(operator.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
