"""Decode: decodes JSON into an object of a type, with the errors of Go's strict decoder.

Decoders are compiled to closures, once a type, because every write runs them. Decoding continues after a type mismatch,
as in Go, and the first mismatch is the error. A quantity or time that does not parse ends decoding with its own error.
Unknown fields are collected and left out.

Must hold: in the result, a missing member means the zero value. Nulls are left out. Empty strings, zeros, `false` and
empty lists and maps are left out where Go's field is no pointer. Quantities, times and base64 are in canonical form.
The input is not changed; the result shares its lists and maps of scalars and its arbitrary JSON.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from aio_apiserver.registry.base.golang import json_numbers
from aio_apiserver.registry.base.golang.decode_errors import DecodeError, TypeMismatch
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.schema import field_paths, ordering, scalars
from aio_apiserver.registry.machinery.schema.field_paths import Where
from aio_apiserver.registry.machinery.schema.model import SchemaField, SchemaKind, SchemaNode, Structure

_NOT_COUNTED = float("-inf")
MAX_STRICT_ERRORS = 100
"""Go's decoder reports no more errors."""


class Findings:
    """The findings of one decoding.

    is_strict: False reports no unknown fields. has_literals: floats may be json_numbers.Literal. wants_literals: the
    result depends on the text of a float. empties: the places of empty lists and maps. fields: the fields of all
    objects and maps; no number when some were not counted.
    """

    __slots__ = ("empties", "fields", "has_literals", "is_strict", "mismatch", "strict_errors", "wants_literals")

    def __init__(self, *, is_strict: bool = True, has_literals: bool = False) -> None:
        self.is_strict = is_strict
        self.has_literals = has_literals
        self.wants_literals = False
        self.fields: float = 0
        self.mismatch = ""
        self.strict_errors: list[str] = []
        self.empties: list[Where] = []

    def mismatched(self, where: Where, found: str, go_type: str) -> None:
        self.failed(field_paths.mismatch(where, found, go_type))

    def failed(self, message: str) -> None:
        """Record an error that does not end decoding."""
        self.mismatch = self.mismatch or message

    def unknown(self, where: Where, name: str) -> None:
        if self.is_strict and len(self.strict_errors) < MAX_STRICT_ERRORS:
            self.strict_errors.append(unknown_field(where, name))


def unknown_field(where: Where, name: str) -> str:
    """Go's message for an unknown field."""
    return f"unknown field {quote(field_paths.path((where, name)))}"


class Decode(Protocol):
    """Decodes the value at a place; not called for null. Returns None for a value that does not decode."""

    def __call__(self, value: Any, where: Where, findings: Findings, /) -> Any: ...


_Member = tuple[type | None, bool, Decode, SchemaField]
"""A member of an object: the Python type that needs no decoding, whether its zero value is kept, its decoder and its
field.
"""


class Decoders:
    """Compiles decoders. Nodes that refer to the same struct share one."""

    def __init__(self) -> None:
        self._structures: dict[Structure, Decode] = {}
        self._compiling: set[Structure] = set()

    def of(self, node: SchemaNode) -> Decode:
        """The decoder of a node."""
        if node.structure is not None:
            return self._object(node, node.structure)
        match node.kind:
            case SchemaKind.LIST:
                return self._list(node)
            case SchemaKind.MAP:
                return self._map(node)
            case SchemaKind.ONE_OF:
                return self._one_of(node)
            case SchemaKind.ANY:
                return _any
            case SchemaKind.JSON:
                return _sorted_json
            case SchemaKind.QUANTITY:
                return _quantity(scalars.reader(node))
            case SchemaKind.BYTES:
                return _bytes(node)
            case SchemaKind.TIME | SchemaKind.MICRO_TIME | SchemaKind.INT_OR_STRING:
                return _ending_leaf(node)
            case SchemaKind.INTEGER:
                return _integer(node)
            case _:
                return _leaf(node)

    def _object(self, node: SchemaNode, structure: Structure) -> Decode:
        known = self._structures.get(structure)
        if known is not None:
            return _nested(known) if structure in self._compiling else known
        members: dict[str, _Member] = {}
        decode = self._structures[structure] = _object(node.go_type, members)
        self._compiling.add(structure)
        for name, field in structure.fields.items():
            members[name] = (_PLAIN_TYPES.get(field.node.kind), keeps_zero(field), self.of(field.node), field)
        self._compiling.remove(structure)
        return decode

    def _list(self, node: SchemaNode) -> Decode:
        assert node.items is not None
        return _list(node.go_type, self.of(node.items), zero(node.items), _PLAIN_TYPES.get(node.items.kind))

    def _map(self, node: SchemaNode) -> Decode:
        assert node.items is not None
        if scalars.is_resource_list(node):
            return _map(node.go_type, _quantity(scalars.resource_quantity), "0", None)
        return _map(node.go_type, self.of(node.items), zero(node.items), _PLAIN_TYPES.get(node.items.kind))

    def _one_of(self, node: SchemaNode) -> Decode:
        by_type = {_JSON_CONTAINERS[one.kind]: self.of(one) for one in node.alternatives}
        return _one_of(by_type, is_lenient=bool not in by_type)


_PLAIN_TYPES: Mapping[SchemaKind, type] = {SchemaKind.STRING: str, SchemaKind.BOOLEAN: bool}
"""Kinds whose values need no decoding beyond the type check."""
_JSON_CONTAINERS: Mapping[SchemaKind, type] = {SchemaKind.OBJECT: dict, SchemaKind.LIST: list, SchemaKind.BOOLEAN: bool}
_DROPPED_WHEN_ZERO = frozenset({SchemaKind.STRING, SchemaKind.BOOLEAN, SchemaKind.INTEGER, SchemaKind.NUMBER})
CONTAINERS = frozenset({SchemaKind.LIST, SchemaKind.MAP})
_DROPPED_WHEN_EMPTY = CONTAINERS | {SchemaKind.BYTES}


def keeps_zero(field: SchemaField) -> bool:
    """Whether the empty value of a member differs from a missing one."""
    if field.node.kind in _DROPPED_WHEN_EMPTY:
        return (field.is_printed and field.keeps_empty) or field.keeps_sent_empty
    return field.is_pointer or field.node.kind not in _DROPPED_WHEN_ZERO


def zero(node: SchemaNode) -> Any:
    """The value of null in a list or map, where it cannot be left out."""
    if node.kind is SchemaKind.OBJECT:
        return {}
    return "" if node.kind is SchemaKind.BYTES else scalars.ZEROS.get(node.kind)


def _object(go_type: str, members: Mapping[str, _Member]) -> Decode:
    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        if type(value) is not dict:
            return findings.mismatched(where, scalars.json_type(value), go_type)
        findings.fields += len(value)
        decoded = {}
        for name, item in value.items():
            try:
                plain_type, keeps, decode_member, field = members[name]
            except KeyError:
                findings.unknown(where, name)
                continue
            if type(item) is plain_type:
                if item or keeps:
                    decoded[name] = item
            elif item is not None:
                result = decode_member(item, (where, field), findings)
                if result:
                    decoded[name] = result
                elif result is not None:
                    if keeps:
                        decoded[name] = result
                    if field.node.kind in CONTAINERS:
                        findings.empties.append((where, field))
        return decoded

    return decode


def _nested(decode_object: Decode) -> Decode:
    """An object inside of an object of the same type; the depth is limited."""

    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        field_paths.check_depth(where)
        return decode_object(value, where, findings)

    return decode


def _list(go_type: str, decode_item: Decode, empty: Any, plain_type: type | None) -> Decode:
    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        if type(value) is not list:
            return findings.mismatched(where, scalars.json_type(value), go_type)
        if plain_type is not None and _are(plain_type, value):
            return value
        decoded = []
        for index, item in enumerate(value):
            decoded.append(_copy(empty) if item is None else decode_item(item, (where, index), findings))
        return decoded

    return decode


def _map(go_type: str, decode_value: Decode, empty: Any, plain_type: type | None) -> Decode:
    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        if type(value) is not dict:
            return findings.mismatched(where, scalars.json_type(value), go_type)
        findings.fields += len(value)
        if plain_type is not None and _are(plain_type, value.values()):
            return value
        decoded = {}
        for key, item in value.items():
            decoded[key] = _copy(empty) if item is None else decode_value(item, (where, key), findings)
        return decoded

    return decode


def _are(plain_type: type, items: Iterable[Any]) -> bool:
    for item in items:  # noqa: SIM110 - a loop costs half of what all() of a generator does
        if type(item) is not plain_type:
            return False
    return True


def _copy(empty: Any) -> Any:
    return {} if empty == {} else empty


def _one_of(by_type: Mapping[type, Decode], *, is_lenient: bool) -> Decode:
    """Alternatives, decoded by Go's lenient decoder: no unknown fields, and a mismatch ends decoding.

    JSON of another type is an error for some types; the others decode it to nothing.
    """

    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        decode_alternative = by_type.get(type(value))
        if decode_alternative is None:
            if is_lenient:
                return None
            raise DecodeError("boolean or JSON schema expected")
        inner = Findings(is_strict=False, has_literals=findings.has_literals)
        decoded = decode_alternative(value, where, inner)
        findings.fields += inner.fields
        if inner.mismatch:
            raise DecodeError(inner.mismatch)
        return decoded

    return decode


def _any(value: Any, _: Where, findings: Findings, /) -> Any:
    findings.fields = _NOT_COUNTED
    return json_numbers.without_literals(value) if findings.has_literals else value


def _sorted_json(value: Any, _: Where, findings: Findings, /) -> Any:
    findings.fields = _NOT_COUNTED
    return ordering.as_printed(value)


def _leaf(node: SchemaNode) -> Decode:
    read = scalars.reader(node)

    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        try:
            return read(value)
        except TypeMismatch as mismatch:
            return findings.mismatched(where, mismatch.found, mismatch.go_type)

    return decode


def _integer(node: SchemaNode) -> Decode:
    """An integer; the usual case first, since integers are frequent."""
    low, high = scalars.integer_range(node)
    refuse = _leaf(node)

    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        return value if type(value) is int and low <= value <= high else refuse(value, where, findings)

    return decode


def _bytes(node: SchemaNode) -> Decode:
    decode_text = _leaf(node)

    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        try:
            return decode_text(value, where, findings)
        except DecodeError as exc:
            return findings.failed(exc.message)

    return decode


def _ending_leaf(node: SchemaNode) -> Decode:
    """A scalar with its own parser, whose errors end decoding."""
    read = scalars.reader(node)

    def decode(value: Any, where: Where, _: Findings, /) -> Any:
        try:
            return read(value)
        except TypeMismatch as mismatch:
            raise DecodeError(field_paths.mismatch(where, mismatch.found, mismatch.go_type)) from mismatch

    return decode


def _quantity(read: scalars.Reader) -> Decode:
    def decode(value: Any, _: Where, findings: Findings, /) -> Any:
        if type(value) is float:
            findings.wants_literals = True
        return read(value)

    return decode
