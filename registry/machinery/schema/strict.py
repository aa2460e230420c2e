"""Strict: duplicate fields in JSON text, with the errors of Go's strict decoder.

A JSON parser keeps the last of two equal keys, but kube-apiserver reports the duplicate. A count of the fields in the
text, or of its colons, shows whether a key was lost. If so, the text is read again, slowly, against the schema.

Must hold: the counts find every duplicate; false alarms are possible. `read` reports duplicate and unknown
fields in the order of the text, up to Go's limit, and none in arbitrary JSON. A repeated object, map or list is decoded
on top of the first one, as in Go.
"""

import json
from collections.abc import Callable
from typing import Any

import orjson
from msgspec import Struct, field

from aio_apiserver.registry.base.golang import json_numbers
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.schema import field_paths
from aio_apiserver.registry.machinery.schema.decode import MAX_STRICT_ERRORS, unknown_field
from aio_apiserver.registry.machinery.schema.field_paths import Where
from aio_apiserver.registry.machinery.schema.model import SchemaField, SchemaKind, SchemaNode, Structure

_ESCAPED_COLON = b"\\u003"
_INT64_DIGITS = 19


def fields_in(text: bytes) -> int:
    """The number of fields in a valid JSON text, or more; -1 for a text in which they are not counted easily.

    The end of a key and its colon stand together, unless there is white space between them. A string with `":` in it
    has a backslash, and a string that begins with a colon counts as one more.
    """
    if b"\\" in text or b" :" in text or b"\n:" in text or b"\t:" in text or b"\r:" in text:
        return -1
    return text.count(b'":')


def may_have_duplicates(text: bytes, value: Any) -> bool:
    """Whether the value may have fewer fields than its text. Each field has a colon, and strings may have some."""
    if _ESCAPED_COLON in text:
        return True
    try:
        return text.count(b":") != orjson.dumps(value).count(b":")
    except TypeError:  # nested too deeply for orjson to write
        return True


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with all its keys."""


def with_literals(text: bytes, *, make_object: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The value of a JSON text; numbers with fraction or exponent remember their text."""
    return json.loads(text, parse_float=json_numbers.Literal.of, parse_int=_integer, object_pairs_hook=make_object)


def _integer(text: str) -> Any:
    return int(text) if len(text) <= _INT64_DIGITS else json_numbers.Literal.of(text)


class StrictDocument(Struct):
    """The value of a text (with literals) and the errors of strict decoding."""

    value: Any = None
    errors: list[str] = field(default_factory=list)

    def add_error(self, error: str) -> None:
        if error not in self.errors and len(self.errors) < MAX_STRICT_ERRORS:
            self.errors.append(error)


def read(node: SchemaNode, text: bytes) -> StrictDocument:
    """Read a valid JSON text as a value of the node."""
    document = StrictDocument()
    pairs = json.loads(text, object_pairs_hook=_Pairs, parse_float=json_numbers.Literal.of, parse_int=_integer)
    document.value = _value(document, node, pairs, None, None)
    return document


def _value(document: StrictDocument, node: SchemaNode, value: Any, where: Where, before: Any) -> Any:
    """The value at a place. `before`: the value of an earlier field with the same name."""
    if isinstance(value, _Pairs):
        if node.structure is not None:
            return _object(document, node.structure, value, where, before)
        if node.kind is SchemaKind.MAP:
            return _map(document, node, value, where, before)
    elif isinstance(value, list) and node.kind is SchemaKind.LIST:
        return _list(document, node, value, where, before)
    return _without_pairs(value)


def _object(document: StrictDocument, structure: Structure, pairs: _Pairs, where: Where, before: Any) -> dict[str, Any]:
    result = dict(before) if isinstance(before, dict) else {}
    seen = set()
    for name, item in pairs:
        member = structure.fields.get(name)
        if member is None:
            document.add_error(unknown_field(where, name))
            continue
        if name in seen:
            document.add_error(_duplicate_field(where, name))
        seen.add(name)
        if item is not None or _null_erases(member):
            result[name] = _value(document, member.node, item, (where, member), result.get(name))
    return result


def _null_erases(member: SchemaField) -> bool:
    return member.is_pointer or member.node.kind in {SchemaKind.LIST, SchemaKind.MAP, SchemaKind.BYTES}


def _map(document: StrictDocument, node: SchemaNode, pairs: _Pairs, where: Where, before: Any) -> dict[str, Any]:
    assert node.items is not None
    result = dict(before) if isinstance(before, dict) else {}
    seen = set()
    for key, item in pairs:
        if key in seen:
            document.add_error(_duplicate_field(where, key))
        seen.add(key)
        result[key] = _value(document, node.items, item, (where, key), None)
    return result


def _list(document: StrictDocument, node: SchemaNode, items: list[Any], where: Where, before: Any) -> list[Any]:
    assert node.items is not None
    earlier = before if isinstance(before, list) else []
    earlier = earlier[: len(items)] + [None] * (len(items) - len(earlier))
    return [_value(document, node.items, item, (where, index), earlier[index]) for index, item in enumerate(items)]


def _duplicate_field(where: Where, name: str) -> str:
    return f"duplicate field {quote(field_paths.path((where, name)))}"


def _without_pairs(value: Any) -> Any:
    if isinstance(value, _Pairs):
        return {key: _without_pairs(item) for key, item in value}
    if isinstance(value, list):
        return [_without_pairs(item) for item in value]
    return value
