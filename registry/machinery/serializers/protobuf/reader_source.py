"""Reader source: generates the Python function that reads one protobuf message.

Pure: from members to text, which messages.py compiles. A loop over the fields, and a branch for each member:

    def core_v1_ContainerPort(data):
        value = {}
        at, end = 0, len(data)
        while at < end:
            ...
            if field == 1:
                value["name"] = text(content)
            elif field == 3:
                value["containerPort"] = signed(number)
        return value

Must hold: for any bytes, the function ends with a value or with Malformed. A field of another wire type than its
member's has no content: `number` is 0, or `content` is empty.
"""

from collections.abc import Callable, Sequence

from aio_apiserver.registry.machinery.serializers.protobuf.leaf_readers import READERS
from aio_apiserver.registry.machinery.serializers.protobuf.message_members import (
    MAP,
    REPEATED,
    Embedded,
    Member,
    WireShape,
)

FunctionOf = Callable[[str], str]
"""The name of the function for a definition."""

_LOOP = """def {name}(data):
    value = {{}}
    at, end = 0, len(data)
    while at < end:
        tag = data[at]
        at += 1
        if tag > 127:
            tag, at = read_varint(data, at - 1)
        if tag & 7 == 2:
            number, start = read_varint(data, at) if at == end or data[at] > 127 else (data[at], at + 1)
            at = start + number
            if at > end:
                raise Malformed("unexpected EOF")
            number, content = 0, data[start:at]
        else:
            number, content, at = read_number(data, at, tag & 7)
        field = tag >> 3
{branches}    return value

"""


def source(name: str, members: Sequence[Member | Embedded], function_of: FunctionOf) -> str:
    """The text of a function of this name; those of embedded structs stand before it."""
    inner = "".join(
        source(f"{name}_{one.number}", one.members, function_of) for one in members if isinstance(one, Embedded)
    )
    branches = "".join(
        f"        {'elif' if place else 'if'} field == {one.number}:\n            {_step(name, one, function_of)}\n"
        for place, one in enumerate(members)
    )
    return inner + _LOOP.format(name=name, branches=branches)


def _step(owner: str, member: Member | Embedded, function_of: FunctionOf) -> str:
    if isinstance(member, Embedded):
        return f"value.update({owner}_{member.number}(content))"
    if member.label == MAP:
        read = _read(member.shape, function_of)
        return f"key, x = entry(content, {read})\n            value.setdefault({member.name!r}, {{}})[key] = x"
    found = _value(member.shape, function_of)
    if member.label == REPEATED:
        return f"value.setdefault({member.name!r}, []).append({found})"
    return f"value[{member.name!r}] = {found}"


def _value(shape: WireShape, function_of: FunctionOf) -> str:
    """An expression for the value in number and content."""
    if shape.name == "bool":
        return "number != 0"
    if shape.name in ("int32", "int64"):
        return "signed(number)"
    if not shape.name:
        return f"{function_of(shape.definition)}(content)"
    return READERS[shape.name].format("content", function_of(shape.definition) if shape.definition else "")


def _read(shape: WireShape, function_of: FunctionOf) -> str:
    """The function that reads the values of a map, which are not numbers."""
    if shape.name == "string":
        return "text"
    if not shape.name:
        return function_of(shape.definition)
    return f"lambda content: {_value(shape, function_of)}"
