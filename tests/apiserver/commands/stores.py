"""Steps for tests of commands on stores: data directories with a few objects."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aio_apiserver.storage.codec import MSGPACK
from aio_apiserver.storage.kv.sqlite import SqliteKV
from tests.registry.groups.apiextensions.example_definitions import definition, version


def an_object(kind: str, name: str, *, api_version: str = "v1", **fields: Any) -> dict[str, Any]:
    """An object in the namespace default, whose uid is made of its name."""
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", **fields.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def crontabs() -> dict[str, Any]:
    """A definition of crontabs.example.com, with a number of replicas."""
    replicas = {"spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}}}
    schema = {"type": "object", "properties": replicas}
    made = definition("crontabs", version("v1", storage=True, schema=schema), kind="CronTab")
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **made}


def fill(directory: Path, objects: Mapping[str, dict[str, Any] | bytes]) -> None:
    """Store objects under their keys, without the prefix."""

    async def put() -> None:
        kv = await SqliteKV.open(directory)
        for key, value in objects.items():
            data = value if isinstance(value, bytes) else MSGPACK.encode(value)
            await kv.put(f"/registry/{key}".encode(), data, expected_mod_revision=0)
        await kv.close()

    asyncio.run(put())
