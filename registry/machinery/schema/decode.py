"""Decoding: JSON into an object of a type, with what Go's strict decoder says of it.

Compiled to closures, once a type: this is on the road of every write. Decoding goes on after a mismatch, as Go does:
the first one is the error, unless a leaf with a parser of its own (a quantity, a time) fails later, which ends it at
once. Unknown fields are collected and left out.

Must hold: in the result, no value means the zero value. Nulls are gone; so are empty strings, zeros, `false` and empty
lists and maps where Go's field is no pointer; quantities, times and base64 are in their one form. What is decoded is
left as it is, but shares its plain lists and maps, and its free JSON, with the result.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from aio_apiserver.registry.base.golang import json_numbers
from aio_apiserver.registry.base.golang.decode_errors import DecodeError, TypeMismatch
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.schema import leaves, ordering, places
from aio_apiserver.registry.machinery.schema.model import Field, Kind, Node, Structure
from aio_apiserver.registry.machinery.schema.places import Where

MAX_STRICT_ERRORS = 100
"""Go's decoder counts no further."""


class Findings:
    """What one decoding has found so far.

    is_strict False finds no unknown fields. has_literals: floats may be numbers.Literal; wants_literals: the result
    depends on how a float was written. empties: where lists and maps are empty.
    """

    __slots__ = ("empties", "has_literals", "is_strict", "mismatch", "strict_errors", "wants_literals")

    def __init__(self, *, is_strict: bool = True, has_literals: bool = False) -> None:
        self.is_strict = is_strict
        self.has_literals = has_literals
        self.wants_literals = False
        self.mismatch = ""
        self.strict_errors: list[str] = []
        self.empties: list[Where] = []

    def mismatched(self, where: Where, found: str, go_type: str) -> None:
        self.failed(places.mismatch(where, found, go_type))

    def failed(self, message: str) -> None:
        """Note an error that does not end decoding."""
        self.mismatch = self.mismatch or message

    def unknown(self, where: Where, name: str) -> None:
        if self.is_strict and len(self.strict_errors) < MAX_STRICT_ERRORS:
            self.strict_errors.append(unknown_field(where, name))


def unknown_field(where: Where, name: str) -> str:
    """Go's words for a field that a type does not have."""
    return f"unknown field {quote(places.path((where, name)))}"


class Decode(Protocol):
    """Decodes the value at a place; null never gets here. What cannot be decoded comes back as None."""

    def __call__(self, value: Any, where: Where, findings: Findings, /) -> Any: ...


_Member = tuple[type | None, bool, Decode, Field]
"""A member of an object: the type that needs no more decoding (if any), whether its zero is kept, and the rest."""


class Decoders:
    """Compiles decoders; those of a structure are shared by all nodes that refer to it."""

    def __init__(self) -> None:
        self._structures: dict[Structure, Decode] = {}
        self._compiling: set[Structure] = set()

    def of(self, node: Node) -> Decode:
        """The decoder of a node."""
        if node.structure is not None:
            return self._object(node, node.structure)
        match node.kind:
            case Kind.LIST:
                return self._list(node)
            case Kind.MAP:
                return self._map(node)
            case Kind.ONE_OF:
                return self._one_of(node)
            case Kind.ANY:
                return _any
            case Kind.JSON:
                return _sorted_json
            case Kind.QUANTITY:
                return _quantity(leaves.reader(node))
            case Kind.BYTES:
                return _bytes(node)
            case Kind.TIME | Kind.MICRO_TIME | Kind.INT_OR_STRING:
                return _ending_leaf(node)
            case Kind.INTEGER:
                return _integer(node)
            case _:
                return _leaf(node)

    def _object(self, node: Node, structure: Structure) -> Decode:
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

    def _list(self, node: Node) -> Decode:
        assert node.items is not None
        return _list(node.go_type, self.of(node.items), zero(node.items), _PLAIN_TYPES.get(node.items.kind))

    def _map(self, node: Node) -> Decode:
        assert node.items is not None
        if leaves.is_resource_list(node):
            return _map(node.go_type, _quantity(leaves.resource_quantity), "0", None)
        return _map(node.go_type, self.of(node.items), zero(node.items), _PLAIN_TYPES.get(node.items.kind))

    def _one_of(self, node: Node) -> Decode:
        by_type = {_JSON_CONTAINERS[one.kind]: self.of(one) for one in node.alternatives}
        return _one_of(by_type, is_lenient=bool not in by_type)


_PLAIN_TYPES: Mapping[Kind, type] = {Kind.STRING: str, Kind.BOOLEAN: bool}
"""Kinds whose values need no more than the right type."""
_JSON_CONTAINERS: Mapping[Kind, type] = {Kind.OBJECT: dict, Kind.LIST: list, Kind.BOOLEAN: bool}
_DROPPED_WHEN_ZERO = frozenset({Kind.STRING, Kind.BOOLEAN, Kind.INTEGER, Kind.NUMBER})
_KEPT_WHEN_EMPTY = frozenset(
    {
        ("ObjectMeta", "managedFields"),
        ("CertificateSigningRequestSpec", "request"),
        ("ConfigMap", "binaryData"),
        ("HPAScalingRules", "policies"),
        ("IngressSpec", "rules"),
        ("NodeSelector", "nodeSelectorTerms"),
        ("PersistentVolumeSpec", "capacity"),
        ("ResourceSliceSpec", "devices"),
        ("ResourceSliceSpec", "sharedCounters"),
        ("Secret", "data"),
        ("ServiceCIDRSpec", "cidrs"),
        ("ServiceSpec", "clusterIPs"),
        ("ServiceSpec", "ipFamilies"),
    }
)
"""A client says with an empty list of managed fields that they are to be forgotten, with one of policies that the
default ones are not wanted; data that are frozen cannot become empty from nothing; the others are shown in the errors
that they are.
"""
CONTAINERS = frozenset({Kind.LIST, Kind.MAP})
_DROPPED_WHEN_EMPTY = CONTAINERS | {Kind.BYTES}


def keeps_zero(field: Field) -> bool:
    """Whether a member's empty value is not the same as no value."""
    if field.node.kind in _DROPPED_WHEN_EMPTY:
        return (field.is_printed and field.keeps_empty) or (field.struct, field.name) in _KEPT_WHEN_EMPTY
    return field.is_pointer or field.node.kind not in _DROPPED_WHEN_ZERO


def zero(node: Node) -> Any:
    """What null is in a list or map, where there is no leaving out."""
    if node.kind is Kind.OBJECT:
        return {}
    return "" if node.kind is Kind.BYTES else leaves.ZEROS.get(node.kind)


def _object(go_type: str, members: Mapping[str, _Member]) -> Decode:
    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        if type(value) is not dict:
            return findings.mismatched(where, leaves.json_type(value), go_type)
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
    """An object within one of its own type: only so many of them may be in one another."""

    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        places.check_depth(where)
        return decode_object(value, where, findings)

    return decode


def _list(go_type: str, decode_item: Decode, empty: Any, plain_type: type | None) -> Decode:
    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        if type(value) is not list:
            return findings.mismatched(where, leaves.json_type(value), go_type)
        if plain_type is not None and _are(plain_type, value):
            return value
        return [
            _copy(empty) if item is None else decode_item(item, (where, index), findings)
            for index, item in enumerate(value)
        ]

    return decode


def _map(go_type: str, decode_value: Decode, empty: Any, plain_type: type | None) -> Decode:
    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        if type(value) is not dict:
            return findings.mismatched(where, leaves.json_type(value), go_type)
        if plain_type is not None and _are(plain_type, value.values()):
            return value
        return {
            key: _copy(empty) if item is None else decode_value(item, (where, key), findings)
            for key, item in value.items()
        }

    return decode


def _are(plain_type: type, items: Iterable[Any]) -> bool:
    for item in items:  # noqa: SIM110 - a loop costs half of what all() of a generator does
        if type(item) is not plain_type:
            return False
    return True


def _copy(empty: Any) -> Any:
    return {} if empty == {} else empty


def _one_of(by_type: Mapping[type, Decode], *, is_lenient: bool) -> Decode:
    """Alternatives are decoded by Go's lenient decoder: nothing in them is unknown, and a mismatch is the end.

    JSON that is none of them is an error where the type says so, and nothing at all where it does not.
    """

    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        decode_alternative = by_type.get(type(value))
        if decode_alternative is None:
            if is_lenient:
                return None
            raise DecodeError("boolean or JSON schema expected")
        inner = Findings(is_strict=False, has_literals=findings.has_literals)
        decoded = decode_alternative(value, where, inner)
        if inner.mismatch:
            raise DecodeError(inner.mismatch)
        return decoded

    return decode


def _any(value: Any, _: Where, findings: Findings, /) -> Any:
    return json_numbers.without_literals(value) if findings.has_literals else value


def _sorted_json(value: Any, _: Where, __: Findings, /) -> Any:
    return ordering.as_printed(value)


def _leaf(node: Node) -> Decode:
    read = leaves.reader(node)

    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        try:
            return read(value)
        except TypeMismatch as mismatch:
            return findings.mismatched(where, mismatch.found, mismatch.go_type)

    return decode


def _integer(node: Node) -> Decode:
    """As a leaf, with the usual case first: integers are frequent."""
    low, high = leaves.integer_range(node)
    refuse = _leaf(node)

    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        return value if type(value) is int and low <= value <= high else refuse(value, where, findings)

    return decode


def _bytes(node: Node) -> Decode:
    decode_text = _leaf(node)

    def decode(value: Any, where: Where, findings: Findings, /) -> Any:
        try:
            return decode_text(value, where, findings)
        except DecodeError as exc:
            return findings.failed(exc.message)

    return decode


def _ending_leaf(node: Node) -> Decode:
    """A leaf with a parser of its own: its errors end decoding."""
    read = leaves.reader(node)

    def decode(value: Any, where: Where, _: Findings, /) -> Any:
        try:
            return read(value)
        except TypeMismatch as mismatch:
            raise DecodeError(places.mismatch(where, mismatch.found, mismatch.go_type)) from mismatch

    return decode


def _quantity(read: leaves.Reader) -> Decode:
    def decode(value: Any, _: Where, findings: Findings, /) -> Any:
        if type(value) is float:
            findings.wants_literals = True
        return read(value)

    return decode
