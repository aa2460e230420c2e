"""Duplicate fields in JSON text: found cheaply when there are none, and told in order when there are.

A parser that keeps the last of two equal keys loses what kube-apiserver complains of. Whether it lost anything shows in
a count; only then is the text read again, slowly, against the schema.

Must hold: `may_have_duplicates` is never wrong when it says no. `read` reports what Go's strict decoder reports
(duplicate and unknown fields in the order of the text, no more than it counts, nothing within free JSON) and makes of
repeated fields what Go makes of them: objects, maps and lists are decoded into what the first one left behind.
"""

import json
from collections.abc import Callable
from typing import Any

import orjson
from msgspec import Struct, field

from aio_apiserver.registry.base.golang import json_numbers
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.schema import places
from aio_apiserver.registry.machinery.schema.decode import MAX_STRICT_ERRORS, unknown_field
from aio_apiserver.registry.machinery.schema.model import Field, Kind, Node, Structure
from aio_apiserver.registry.machinery.schema.places import Where

_ESCAPED_COLON = b"\\u003"
_INT64_DIGITS = 19


def may_have_duplicates(text: bytes, value: Any) -> bool:
    """Whether the value, parsed from the text, may have fewer fields: each field has a colon, and so may strings."""
    if _ESCAPED_COLON in text:
        return True
    try:
        return text.count(b":") != orjson.dumps(value).count(b":")
    except TypeError:  # nested too deeply for orjson to write
        return True


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with all its keys."""


def with_literals(text: bytes, *, make_object: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The value of a JSON text, in which numbers with a fraction or an exponent know how they were written."""
    return json.loads(text, parse_float=json_numbers.Literal.of, parse_int=_integer, object_pairs_hook=make_object)


def _integer(text: str) -> Any:
    return int(text) if len(text) <= _INT64_DIGITS else json_numbers.Literal.of(text)


class Document(Struct):
    """What a text says: its value (with literals), and what a strict decoder has against it."""

    value: Any = None
    errors: list[str] = field(default_factory=list)

    def found(self, error: str) -> None:
        if error not in self.errors and len(self.errors) < MAX_STRICT_ERRORS:
            self.errors.append(error)


def read(node: Node, text: bytes) -> Document:
    """Read a JSON text (which is known to parse) as a value of the node."""
    document = Document()
    pairs = json.loads(text, object_pairs_hook=_Pairs, parse_float=json_numbers.Literal.of, parse_int=_integer)
    document.value = _value(document, node, pairs, None, None)
    return document


def _value(document: Document, node: Node, value: Any, where: Where, before: Any) -> Any:
    """The value at a place; `before` is what an earlier field of the same name has left there."""
    if isinstance(value, _Pairs):
        if node.structure is not None:
            return _object(document, node.structure, value, where, before)
        if node.kind is Kind.MAP:
            return _map(document, node, value, where, before)
    elif isinstance(value, list) and node.kind is Kind.LIST:
        return _list(document, node, value, where, before)
    return _without_pairs(value)


def _object(document: Document, structure: Structure, pairs: _Pairs, where: Where, before: Any) -> dict[str, Any]:
    result = dict(before) if isinstance(before, dict) else {}
    seen = set()
    for name, item in pairs:
        member = structure.fields.get(name)
        if member is None:
            document.found(unknown_field(where, name))
            continue
        if name in seen:
            document.found(_duplicate_field(where, name))
        seen.add(name)
        if item is not None or _null_erases(member):
            result[name] = _value(document, member.node, item, (where, member), result.get(name))
    return result


def _null_erases(member: Field) -> bool:
    return member.is_pointer or member.node.kind in {Kind.LIST, Kind.MAP, Kind.BYTES}


def _map(document: Document, node: Node, pairs: _Pairs, where: Where, before: Any) -> dict[str, Any]:
    assert node.items is not None
    result = dict(before) if isinstance(before, dict) else {}
    seen = set()
    for key, item in pairs:
        if key in seen:
            document.found(_duplicate_field(where, key))
        seen.add(key)
        result[key] = _value(document, node.items, item, (where, key), None)
    return result


def _list(document: Document, node: Node, items: list[Any], where: Where, before: Any) -> list[Any]:
    assert node.items is not None
    earlier = before if isinstance(before, list) else []
    earlier = earlier[: len(items)] + [None] * (len(items) - len(earlier))
    return [_value(document, node.items, item, (where, index), earlier[index]) for index, item in enumerate(items)]


def _duplicate_field(where: Where, name: str) -> str:
    return f"duplicate field {quote(places.path((where, name)))}"


def _without_pairs(value: Any) -> Any:
    if isinstance(value, _Pairs):
        return {key: _without_pairs(item) for key, item in value}
    if isinstance(value, list):
        return [_without_pairs(item) for item in value]
    return value
