"""What kube-apiserver was recorded to answer, as far as it concerns schemas."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import orjson

from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import ObjectType, UnknownKind
from aio_apiserver.registry.machinery.schema.model import Kind, Node
from tests.paths import CASSETTES

_FOR_KINDS: Mapping[Kind, Any] = {
    Kind.TIME: "2024-01-02T03:04:05Z",
    Kind.MICRO_TIME: "2024-01-02T03:04:05.000006Z",
    Kind.INTEGER: 30000,
    Kind.BYTES: "QQ==",
}
"""Values for the recordings' placeholders (`<time>`, `<nodeport>`) where a placeholder is not a value of its kind."""
_CONTAINERS: Mapping[Kind, type] = {Kind.OBJECT: dict, Kind.LIST: list, Kind.BOOLEAN: bool}


@dataclass(frozen=True, slots=True)
class Step:
    """One request and its answer."""

    name: str
    request: Mapping[str, Any]
    answer: Mapping[str, Any]

    @property
    def message(self) -> str:
        """The message of a Status; empty in every other answer."""
        body = self.answer.get("body")
        message = body.get("message") if isinstance(body, dict) else ""
        return message if isinstance(message, str) else ""

    @property
    def warnings(self) -> list[str]:
        """The texts of the Warning headers."""
        header: str = self.answer.get("headers", {}).get("warning", "")
        return [
            json.loads(f'"{text}"') for text in header.removeprefix('299 - "').removesuffix('"').split('", 299 - "')
        ]

    def objects(self) -> Iterator[Any]:
        """The whole objects in the answer or its events."""
        if "pick" not in self.request:
            if self.answer.get("status") in {200, 201, 202}:
                yield self.answer.get("body")
            yield from (event["object"] for event in self.answer.get("events", ()) if isinstance(event, dict))


@cache
def steps() -> list[Step]:
    """All recorded steps."""
    return [
        step
        for cassette in (json.loads(gzip.decompress(path.read_bytes())) for path in sorted(CASSETTES.glob("*.gz")))
        for scenario in cassette["scenarios"]
        for step in _flattened(f"{cassette['area']}/{scenario['name']}", scenario["steps"])
    ]


def _flattened(name: str, requests: list[dict[str, Any]]) -> Iterator[Step]:
    for index, request in enumerate(requests):
        if "watch" in request:
            yield from _flattened(name, request["during"])
        yield Step(f"{name}[{index}]", request, request.get("expect", {}))


def type_of(value: Any) -> ObjectType | None:
    """The built-in type that an object says it is of, if any."""
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in ("apiVersion", "kind")):
        return None
    group, _, version = value["apiVersion"].rpartition("/")
    try:
        return schema.builtin().type_for(group, version, value["kind"])
    except UnknownKind:
        return None


def filled(node: Node | None, value: Any) -> Any:
    """A copy of a recorded value in which placeholders are values of their kinds."""
    if node is None:
        return value
    if isinstance(value, str) and "<" in value:
        return _FOR_KINDS.get(node.kind, value)
    if node.structure is not None and isinstance(value, dict):
        fields = node.structure.fields
        return {name: filled(fields[name].node, item) if name in fields else item for name, item in value.items()}
    if node.kind is Kind.MAP and isinstance(value, dict):
        return {key: filled(node.items, item) for key, item in value.items()}
    if node.kind is Kind.LIST and isinstance(value, list):
        return [filled(node.items, item) for item in value]
    for alternative in node.alternatives:
        if isinstance(value, _CONTAINERS[alternative.kind]):
            return filled(alternative, value)
    return value


def without(value: Any, paths: list[str]) -> Any:
    """A copy without the members that the recording leaves out of the comparison."""
    copy = orjson.loads(orjson.dumps(value))
    for path in paths:
        *parents, last = path.split(".")
        inner = copy
        for name in parents:
            inner = inner[int(name)] if isinstance(inner, list) else inner.get(name, {})
        inner.pop(last, None)
    return copy


def text_of(request: Mapping[str, Any]) -> bytes:
    """The body of a request, as it was sent."""
    body = request["body"]
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()
