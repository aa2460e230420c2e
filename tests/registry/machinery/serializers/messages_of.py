"""Values for messages: of every type, with all of its members or with some of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

from aio_apiserver.registry.machinery.schema import Catalog, wire
from aio_apiserver.registry.machinery.serializers.protobuf import message_members
from aio_apiserver.registry.machinery.serializers.protobuf.message_members import (
    MAP,
    REPEATED,
    Embedded,
    Member,
    WireShape,
)

_DEEPEST = 3
_INTEGERS = st.integers(min_value=-(2**63), max_value=2**63 - 1) | st.integers(min_value=-300, max_value=300)
_TIMES = st.sampled_from(["2024-05-06T07:08:09Z", "1969-12-31T23:59:59Z", "2261-01-01T00:00:00.123456Z"])
_TEXTS = st.text(max_size=6) | st.just("x" * 200)
_JSON = st.dictionaries(_TEXTS, _TEXTS | _INTEGERS | st.none(), max_size=2)

LEAVES: Mapping[str, st.SearchStrategy[Any]] = {
    "string": _TEXTS,
    "bytes": st.sampled_from(["", "AA==", "w6Q="]),
    "bool": st.booleans(),
    "int32": st.integers(min_value=-(2**31), max_value=2**31 - 1),
    "int64": _INTEGERS,
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "Time": _TIMES,
    "MicroTime": _TIMES,
    "Quantity": st.sampled_from(["0", "100m", "64Mi", ""]),
    "IntOrString": st.integers(min_value=0, max_value=2**31) | _TEXTS,
    "RawExtension": _JSON,
    "JSON": _JSON,
    "FieldsV1": _JSON,
    "ExtraValue": st.lists(_TEXTS, max_size=2),
    "Verbs": st.lists(_TEXTS, max_size=2),
}

Draw = Callable[[st.SearchStrategy[Any]], Any]


members_of = cache(message_members.members_of)


def definitions(types: Catalog) -> Sequence[str]:
    """All types that have a message."""
    return [name for name in types.definitions if wire.fields(name)]


@st.composite
def values(draw: Draw, definition: str, types: Catalog) -> dict[str, Any]:
    """A value with some of the members, and null where there may be nothing."""
    return _value(members_of(definition, types), types, draw, depth=0)


def full(definition: str, types: Catalog) -> dict[str, Any]:
    """A value with all members, down to some depth."""
    return _value(members_of(definition, types), types, _drawn_full, depth=0)


def _drawn_full(strategy: st.SearchStrategy[Any]) -> Any:
    return _FULL.get(strategy, True)


def _value(of: Sequence[Member | Embedded], types: Catalog, draw: Draw, *, depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for member in of:
        if isinstance(member, Embedded):
            value |= _value(member.members, types, draw, depth=depth)
        elif depth < _DEEPEST and draw(_PRESENCE):
            value[member.name] = _of_member(member, types, draw, depth=depth)
    return value


def _of_member(member: Member, types: Catalog, draw: Draw, *, depth: int) -> Any:
    one = _of_shape(member.shape, types, draw, depth=depth + 1)
    if member.label == REPEATED:
        return [one, _of_shape(member.shape, types, draw, depth=depth + 1)]
    if member.label == MAP:
        return {"ü": one, draw(_TEXTS): one, "a": one}
    return one


def _of_shape(shape: WireShape, types: Catalog, draw: Draw, *, depth: int) -> Any:
    if shape.name in LEAVES:
        return draw(LEAVES[shape.name])
    schema = _value(members_of(shape.definition, types), types, draw, depth=depth)
    match shape.name:
        case "":
            return schema
        case "JSONSchemaPropsOrBool":
            return schema if draw(_PRESENCE) else draw(LEAVES["bool"])
        case "JSONSchemaPropsOrArray":
            return schema if draw(_PRESENCE) else [schema]
        case _:
            return schema if draw(_PRESENCE) else [draw(_TEXTS)]


_PRESENCE = st.booleans()
_FULL: Mapping[Any, Any] = {
    _PRESENCE: True,
    _TEXTS: "größe",
    LEAVES["bytes"]: "w6Q=",
    LEAVES["bool"]: True,
    LEAVES["int32"]: -7,
    LEAVES["int64"]: 2**40,
    LEAVES["double"]: -1.5,
    _TIMES: "2024-05-06T07:08:09Z",
    LEAVES["Quantity"]: "100m",
    LEAVES["IntOrString"]: "25%",
    _JSON: {"f:ü": {"n": [1, None, "ß"]}},
    LEAVES["ExtraValue"]: ["a", "ü"],
    LEAVES["Verbs"]: ["get"],
}
