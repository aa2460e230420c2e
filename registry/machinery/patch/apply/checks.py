"""Checks: whether an applied configuration fits its type, with the messages of structured-merge-diff.

Pure. Must hold: the other walks raise no ShapeError for a value without misfits.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from aio_apiserver.registry.base.golang import text as gotext
from aio_apiserver.registry.machinery.patch.apply import elements
from aio_apiserver.registry.machinery.patch.apply.shapes import Lists, Maps, Scalar, Shape, ShapeError


class Misfit(NamedTuple):
    """A mistake and its path."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


def summary(found: Sequence[Misfit]) -> str:
    """All mistakes as one text."""
    return str(found[0]) if len(found) == 1 else "errors:" + "".join(f"\n  {one}" for one in found)


def misfits(shape: Shape, value: Any, *, where: str = "", allows_duplicates: bool = False) -> list[Misfit]:
    """All mistakes of a value."""
    return list(_check(shape, value, where, allows_duplicates))


def _check(shape: Shape, value: Any, where: str, allows_duplicates: bool) -> Iterator[Misfit]:
    part = shape.part(value)
    if value is None:
        return
    if isinstance(part, Maps):
        if isinstance(value, dict):
            yield from _check_members(part, value, where, allows_duplicates)
        else:
            yield Misfit(where, f"expected map, got &{{{gotext.value_text(value)}}}")
    elif isinstance(part, Lists):
        if isinstance(value, list):
            yield from _check_elements(part, value, where, allows_duplicates)
        else:
            yield Misfit(where, f"expected list, got &{{{gotext.value_text(value)}}}")
    elif what := scalar_misfit(part, value):
        yield Misfit(where, what)


def _check_members(part: Maps, value: dict[str, Any], where: str, allows_duplicates: bool) -> Iterator[Misfit]:
    """Stops at the first unknown member."""
    if part.of_scalars is Scalar.STRING and all(type(one) is str for one in value.values()):
        return
    for name, one in value.items():
        shape = part.fields.get(name) or part.rest
        if shape is None:
            yield Misfit(f"{where}.{name}", "field not declared in schema")
            return
        if type(one) is str and shape.scalar is Scalar.STRING and shape.maps is None and shape.lists is None:
            continue
        yield from _check(shape, one, f"{where}.{name}", allows_duplicates)


def _check_elements(part: Lists, value: list[Any], where: str, allows_duplicates: bool) -> Iterator[Misfit]:
    """Stops at the first element that has no key."""
    seen: set[str] = set()
    for index, one in enumerate(value):
        try:
            element = f"{elements.INDEX}{index}" if part.is_atomic else part.element(one)
        except ShapeError as exc:
            yield Misfit(where, f"element {index}: {exc}")
            return
        text = elements.path_text([element])
        if element in seen and not allows_duplicates:
            yield Misfit(where, f"duplicate entries for key {text}")
        seen.add(element)
        yield from _check(part.items, one, where + text, allows_duplicates)


def scalar_misfit(scalar: Scalar, value: Any) -> str:
    """Why a value is not a scalar of this type; empty when it is."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match scalar:
        case Scalar.NUMERIC if not is_number:
            return f"expected numeric (int or float), got {_go_type(value)}"
        case Scalar.STRING if not isinstance(value, str):
            return f"expected string, got &value.valueUnstructured{{Value:{gotext.syntax_text(value)}}}"
        case Scalar.BOOLEAN if not isinstance(value, bool):
            return f"expected boolean, got &{{{gotext.value_text(value)}}}"
        case Scalar.UNTYPED if isinstance(value, dict | list):
            return f"expected any scalar, got &{{{gotext.value_text(value)}}}"
    return ""


_GO_TYPES = {str: "string", bool: "bool", dict: "map[string]interface {}", list: "[]interface {}"}


def _go_type(value: Any) -> str:
    return _GO_TYPES.get(type(value), "float64")
