"""Toleration texts: reads tolerations from JSON in annotations, as Go's decoder does, with names in any case. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.golang import json_texts
from aio_apiserver.registry.machinery.schema.scalars import json_type

_MEMBERS: Mapping[str, tuple[str, str, type]] = {
    "key": ("key", "string", str),
    "operator": ("operator", "{}.TolerationOperator", str),
    "value": ("value", "string", str),
    "effect": ("effect", "{}.TaintEffect", str),
    "tolerationseconds": ("tolerationSeconds", "int64", int),
}
"""For each field in lower case: its name, its Go type and its Python type."""


def read(text: str, *, package: str) -> list[dict[str, Any]]:
    """Read the tolerations. Raises ValueError with Go's message. `package` is the Go package of the type; "core" is the
    internal one.
    """
    value = json_texts.value_of(text.encode())
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"json: cannot unmarshal {json_type(value)} into Go value of type []{package}.Toleration")
    mistakes: list[str] = []
    found = [_toleration(one, package, mistakes) for one in value]
    if mistakes:
        raise ValueError(mistakes[0])
    return found


def _toleration(value: Any, package: str, mistakes: list[str]) -> dict[str, Any]:
    if not isinstance(value, dict | None):
        mistakes.append(f"json: cannot unmarshal {json_type(value)} into Go value of type {package}.Toleration")
    read_members: dict[str, Any] = {}
    for given, content in value.items() if isinstance(value, dict) else ():
        name, go_type, kind = _MEMBERS.get(given.lower(), ("", "", object))
        if not name or content is None:
            continue
        if isinstance(content, kind) and not isinstance(content, bool):
            read_members[name] = content
            continue
        shown = name[0].upper() + name[1:] if package == "core" else name
        number = f" {content}" if isinstance(content, float) and kind is int else ""
        place = f"Go struct field Toleration.{shown} of type {go_type.format(package)}"
        mistakes.append(f"json: cannot unmarshal {json_type(content)}{number} into {place}")
    return read_members
