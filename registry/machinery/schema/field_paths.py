"""Field paths: the place of a decoder in an object, and its text in messages.

A place is a chain from the inside out: `(outer, step)`, where a step is a field, an index or a key. None is the object
itself. A chain is cheap; its text is made when an error needs it.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP, DecodeError
from aio_apiserver.registry.machinery.schema.model import SchemaField, SchemaKind

Where = tuple[Any, "SchemaField | int | str"] | None


MAX_DEPTH = 200
"""The depth limit for types that contain themselves, which protects later walks from recursion errors."""


def check_depth(where: Where) -> None:
    """Raises DecodeError for a place that is nested too deeply."""
    depth = 0
    while where is not None:
        where, depth = where[0], depth + 1
    if depth > MAX_DEPTH:
        raise DecodeError(TOO_DEEP)


def path(where: Where) -> str:
    """The place as a field path: `spec.containers[0].name`."""
    text = ""
    for step in _steps(where):
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = step.name if isinstance(step, SchemaField) else step
            text += f".{name}" if text else name
    return text


def empties(found: Iterable[Where]) -> tuple[Empty, ...]:
    """The places of empty lists and maps, as paths without types."""
    return tuple(map(_empty, found))


def _empty(where: Where) -> Empty:
    steps = tuple(_steps(where))
    last = steps[-1]
    assert isinstance(last, SchemaField)
    return Empty(
        tuple(step.name if isinstance(step, SchemaField) else step for step in steps), last.node.kind is SchemaKind.MAP
    )


def mismatch(where: Where, found: str, go_type: str) -> str:
    """Go's message for JSON of the wrong type. It names the last struct, and fields without indexes and keys."""
    fields = [step for step in _steps(where) if isinstance(step, SchemaField)]
    if not fields:
        return f"json: cannot unmarshal {found} into Go value of type {go_type}"
    names = ".".join(name for field in fields for name in (*field.embedded_in, field.name))
    return f"json: cannot unmarshal {found} into Go struct field {fields[-1].struct}.{names} of type {go_type}"


def _steps(where: Where) -> Iterator["SchemaField | int | str"]:
    steps = []
    while where is not None:
        where, step = where
        steps.append(step)
    return reversed(steps)
