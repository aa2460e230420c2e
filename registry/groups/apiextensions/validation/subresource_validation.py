"""Subresource validation: validates the subresources of a definition, which are the paths of /scale. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError

_PLACES: Sequence[tuple[str, tuple[str, ...], str]] = (
    ("specReplicasPath", (".spec.",), "should be a json path under .spec"),
    ("statusReplicasPath", (".status.",), "should be a json path under .status"),
    ("labelSelectorPath", (".spec.", ".status."), "should be a json path under either .spec or .status"),
)
_OPTIONAL = "labelSelectorPath"


def validate(subresources: Mapping[str, Any] | None, path: str) -> list[FieldError]:
    """The errors of the subresources."""
    scale = (subresources or {}).get("scale")
    if scale is None:
        return []
    found = []
    for name, roots, detail in _PLACES:
        value, where = scale.get(name) or "", f"{path}.scale.{name}"
        if not value:
            found += [] if name == _OPTIONAL else [field.required(where)]
        elif wrong := validate_simple_path(value, where):
            found += wrong
        elif not value.startswith(roots):
            found.append(field.invalid(where, value, detail))
    return found


def validate_simple_path(text: str, path: str) -> list[FieldError]:
    """The error of a path that does not begin with a dot."""
    if not text.startswith("."):
        return [field.invalid(path, text, "must be a simple json path starting with .")]
    return []
