"""Writer source: generates the Python function that writes one protobuf message.

Pure: from members to text, which messages.py compiles. A member is one step, in the order of the numbers:

    def core_v1_ContainerPort(value):
        get = value.get
        out = ""
        if x := get("name"):
            out += f"\\n{VARINTS[len(x)]}{x}"
        else:
            out += "\\n\\x00"
        ...
        return out

Must hold: the results are octets (octets.py), equal to those of the plain writer in the tests.
"""

from collections.abc import Callable, Iterator, Sequence

from aio_apiserver.registry.machinery.serializers.protobuf.encoding import FIXED64, LENGTH, VARINT, tag
from aio_apiserver.registry.machinery.serializers.protobuf.leaf_writers import NEVER_WRITTEN_EMPTY, WRITERS, ZEROS
from aio_apiserver.registry.machinery.serializers.protobuf.message_members import (
    MAP,
    REPEATED,
    Embedded,
    Member,
    WireShape,
)
from aio_apiserver.registry.machinery.serializers.protobuf.octets import delimited, of_bytes

FunctionOf = Callable[[str], str]
"""The name of the function for a definition."""

_NUMBERS = frozenset({"int32", "int64", "bool"})


def source(name: str, members: Sequence[Member | Embedded], function_of: FunctionOf) -> str:
    """The text of a function of this name; those of embedded structs stand before it."""
    inner = "".join(
        source(f"{name}_{one.number}", one.members, function_of) for one in members if isinstance(one, Embedded)
    )
    lines = (f"    {line}\n" for one in members for line in _steps(name, one, function_of))
    return f'{inner}def {name}(value):\n    get = value.get\n    out = ""\n{"".join(lines)}    return out\n\n'


def _steps(owner: str, member: Member | Embedded, function_of: FunctionOf) -> Iterator[str]:
    if isinstance(member, Embedded):
        yield f"x = {owner}_{member.number}(value)"
        yield f"out += {_delimited(_tag(member.number, LENGTH), 'x')}"
    elif member.label == REPEATED:
        yield f"for x in get({member.name!r}) or ():"
        yield from _indented(_written(member, function_of))
    elif member.label == MAP:
        yield f"for key, x in sorted((get({member.name!r}) or {{}}).items()):"
        yield from _indented(_entry(member, function_of))
    else:
        yield from _single(member, function_of)


def _single(member: Member, function_of: FunctionOf) -> Iterator[str]:
    shape, found = member.shape, f"x := get({member.name!r})"
    if not member.is_always_written or shape.name in NEVER_WRITTEN_EMPTY:
        yield f"if ({found}) is not None:"
        yield from _indented(_written(member, function_of))
    elif shape.definition and not shape.name:
        yield f"x = get({member.name!r}) or {{}}"
        yield from _written(member, function_of)
    elif shape.name == "bool":
        shown, hidden = (f"{_tag(member.number, VARINT)}{end}" for end in "\1\0")
        yield f"out += {shown!r} if get({member.name!r}) else {hidden!r}"
    else:
        yield f"if ({found}) is not None:"
        yield from _indented(_written(member, function_of))
        yield "else:"
        yield f"    out += {_zero(member)!r}"


def _written(member: Member, function_of: FunctionOf) -> Iterator[str]:
    """The steps that write the value x."""
    content = _content(member.shape, function_of)
    kind = _kind(member.shape)
    if kind != LENGTH:
        yield f"out += {_formatted(_tag(member.number, kind), content)}"
        return
    if content != "x":
        yield f"x = {content}"
    yield f"out += {_delimited(_tag(member.number, LENGTH), 'x')}"


def _entry(member: Member, function_of: FunctionOf) -> Iterator[str]:
    """The steps that write a key and its value x: a message of both."""
    content = _content(member.shape, function_of)
    kind = _kind(member.shape)
    if kind == LENGTH and content != "x":
        yield f"x = {content}"
    ending = _delimited(_tag(2, kind), "x") if kind == LENGTH else _formatted(_tag(2, kind), content)
    yield f"entry = {_delimited(_tag(1, LENGTH), 'key')} {ending}"
    yield f"out += {_delimited(_tag(member.number, LENGTH), 'entry')}"


def _content(shape: WireShape, function_of: FunctionOf) -> str:
    """An expression for the content of x."""
    if shape.name == "string":
        return "x"
    if shape.name in _NUMBERS:
        return "VARINTS[x]"
    if shape.name == "double":
        return "double(x)"
    if not shape.name:
        return f"{function_of(shape.definition)}(x)"
    return WRITERS[shape.name].format("x", function_of(shape.definition) if shape.definition else "")


def _kind(shape: WireShape) -> int:
    if shape.name == "double":
        return FIXED64
    return VARINT if shape.name in _NUMBERS else LENGTH


def _zero(member: Member) -> str:
    kind, name = _kind(member.shape), member.shape.name
    content = delimited(ZEROS.get(name, "")) if kind == LENGTH else "\0" * (8 if kind == FIXED64 else 1)
    return _tag(member.number, kind) + content


def _tag(number: int, kind: int) -> str:
    return of_bytes(tag(number, kind))


def _formatted(head: str, expression: str) -> str:
    quoted = repr(head.replace("{", "{{").replace("}", "}}"))
    return f"f{quoted[:-1]}{{{expression}}}{quoted[0]}"


def _delimited(head: str, name: str) -> str:
    """A head, the length of a text, and the text."""
    return _formatted(head, f"VARINTS[len({name})]}}{{{name}")


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)
