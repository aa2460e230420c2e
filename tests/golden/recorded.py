"""Recorded: the objects in the recordings, for tests of what is done with any object."""

import contextlib
import gzip
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.machinery.schema import ObjectType, UnknownKind, builtin

TYPES = builtin()
CASSETTES = Path(__file__).with_name("cassettes")


@cache
def recorded() -> dict[str, list[dict[str, Any]]]:
    """All typed objects in the recordings as they are stored, by their definitions."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in CASSETTES.glob("*.json.gz"):
        text = gzip.decompress(path.read_bytes()).replace(b"<time>", b"2024-05-06T07:08:09Z")
        for obj in _objects(orjson.loads(text)):
            with contextlib.suppress(UnknownKind, DecodeError):
                known = _type_of(obj)
                found.setdefault(known.definition, []).append(known.canonical(known.decode(obj).obj))
    return found


def _type_of(obj: dict[str, Any]) -> ObjectType:
    group, _, version = obj["apiVersion"].rpartition("/")
    return TYPES.type_for(group, version, obj["kind"])


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _objects(one)
        if isinstance(value.get("kind"), str) and isinstance(value.get("apiVersion"), str):
            yield value
    elif isinstance(value, list):
        for one in value:
            yield from _objects(one)
