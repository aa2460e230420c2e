"""What strategic merge patches fail with, in the words of Go's types. Pure."""

from typing import Any

from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.golang import text

Map = dict[str, Any]

_GO_TYPES = {dict: "map[string]interface {}", list: "[]interface {}", str: "string", bool: "bool", int: "int64"}


def bad_type(wanted: type, value: Any) -> StatusError:
    """A value that is neither what a directive nor what a list's elements have to be."""
    return StatusError(f"expected a {_GO_TYPES[wanted]}, but received a {_go_type(value)}")


def no_merge_key(element: Map, merge_key: str) -> StatusError:
    return StatusError(f"map: {text.value_text(element)} does not contain declared merge key: {merge_key}")


def bad_directive(directive: Any, patch: Map) -> StatusError:
    return StatusError(f"unknown patch type: {_string_text(directive)} in map: {text.value_text(patch)}")


def mixed_elements(*lists: list[Any]) -> StatusError:
    return StatusError(f"list element types are not identical: {text.value_text(lists)}")


def other_order(patch: list[Any], order: list[Any]) -> StatusError:
    """The elements of a patch in another order than the one that the patch asks for."""
    return StatusError(
        f"The order in patch list:\n{text.value_text(patch)}\n"
        f" doesn't match $setElementOrder list:\n{text.value_text(order)}\n"
    )


def _go_type(value: Any) -> str:
    return "%!s(<nil>)" if value is None else _GO_TYPES.get(type(value), "float64")


def _string_text(value: Any) -> str:
    """%s of decoded JSON: what is no string says so."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{_string_text(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(_string_text, value)) + "]"
    return "%!s(<nil>)" if value is None else f"%!s({_go_type(value)}={text.value_text(value)})"
