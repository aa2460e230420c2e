"""Where in an object a decoder is, and how messages tell it.

A place is a chain of steps from the inside out: `(outer, step)`, where a step is a Field, an index or a key; None is
the object itself. Chains cost next to nothing until a message needs one.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP, DecodeError
from aio_apiserver.registry.machinery.schema.model import Field, Kind

Where = tuple[Any, "Field | int | str"] | None


MAX_DEPTH = 200
"""Steps into an object of a type that contains itself, so that whatever walks one later cannot overflow its stack."""


def check_depth(where: Where) -> None:
    """Refuse what is nested too deeply. Raises DecodeError."""
    if sum(1 for _ in _steps(where)) > MAX_DEPTH:
        raise DecodeError(TOO_DEEP)


def path(where: Where) -> str:
    """The place as a client writes it: `spec.containers[0].name`."""
    text = ""
    for step in _steps(where):
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = step.name if isinstance(step, Field) else step
            text += f".{name}" if text else name
    return text


def empties(found: Iterable[Where]) -> tuple[Empty, ...]:
    """Fields of lists and maps that are empty, as whoever knows no types finds them."""
    return tuple(map(_empty, found))


def _empty(where: Where) -> Empty:
    steps = tuple(_steps(where))
    last = steps[-1]
    assert isinstance(last, Field)
    return Empty(tuple(step.name if isinstance(step, Field) else step for step in steps), last.node.kind is Kind.MAP)


def mismatch(where: Where, found: str, go_type: str) -> str:
    """Go's words for JSON of the wrong type: they name the last struct, and fields without indexes and keys."""
    fields = [step for step in _steps(where) if isinstance(step, Field)]
    if not fields:
        return f"json: cannot unmarshal {found} into Go value of type {go_type}"
    names = ".".join(name for field in fields for name in (*field.embedded_in, field.name))
    return f"json: cannot unmarshal {found} into Go struct field {fields[-1].struct}.{names} of type {go_type}"


def _steps(where: Where) -> Iterator["Field | int | str"]:
    steps = []
    while where is not None:
        where, step = where
        steps.append(step)
    return reversed(steps)
