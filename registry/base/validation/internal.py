"""The form in which kube-apiserver shows structs in errors: its internal types, with Go's names, in Go's order.

`form("core.PodSpec", spec)` makes `{"Volumes":null,"InitContainers":null,...}` of a hub object's part, for a FieldError
to show. internal_types.txt has the facts; it is read when the first struct is shown.

A shape is text, number, flag (absent: "", 0, false), quantity, duration, number-or-text, meta (a type of
meta/v1, shown as it is), any, a struct (`PodSpec` of the same group or `core.PodSpec`), or one of these behind `*`,
`[]` or `{}` (absent: null).

Pure. Must hold: what has no place in the internal type is not shown; maps are in the order of their keys.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

_ABSENT = {"text": "", "number": 0, "flag": False, "quantity": "0", "duration": "0s", "number-or-text": 0, "any": None}
_META_FIELDS = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
_OMITTED: tuple[Any, ...] = ("", {}, [], None)
_HOST_FIELDS = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
"""Fields of a pod's spec that are internally its security context's."""

_Show = Callable[[Any], Any]
_Part = Callable[[Mapping[str, Any]], Iterator[tuple[str, Any]]]


def form(struct: str, value: Mapping[str, Any] | None) -> Any:
    """A value as the struct of this name shows; null when there is none."""
    return None if value is None else _struct(struct)(value)


@cache
def _struct(name: str) -> _Show:
    parts = [_part(name, cell) for cell in structs()[name]]

    def show(value: Any) -> Any:
        given = value or {}
        if name == "core.PodSpec":
            given = _with_host_fields(given)
        return {field: shown for part in parts for field, shown in part(given)}

    return show


def _part(struct: str, cell: str) -> _Part:
    """What one cell of the table adds to the form of a struct."""
    if cell == "+metadata":
        return _metadata
    if cell.startswith("+"):
        embedded = _struct(_qualified(struct, cell[1:]))
        return lambda value: iter(embedded(value).items())
    names, _, shape = cell.partition(":")
    name, _, given = names.partition("=")
    field, show = given or _field_name(name), _shape(struct, shape)
    if field == ".":
        return lambda value: iter(((name, show(value)),))
    return lambda value: iter(((name, show(value.get(field))),))


def _shape(struct: str, shape: str) -> _Show:
    if shape.startswith("*"):
        return _unless_absent(_shape(struct, shape[1:]))
    if shape.startswith("[]"):
        element = _shape(struct, shape[2:])
        return _unless_absent(lambda value: [element(one) for one in value])
    if shape.startswith("{}"):
        member = _shape(struct, shape[2:])
        return _unless_absent(lambda value: {key: member(value[key]) for key in sorted(value)})
    if shape == "meta":
        return meta
    if shape in _ABSENT:
        absent = _ABSENT[shape]
        return lambda value: absent if value is None else value
    # Found at the first value: types contain themselves.
    name = _qualified(struct, shape)
    return lambda value: _struct(name)(value)


def _unless_absent(show: _Show) -> _Show:
    return lambda value: None if value is None else show(value)


def _metadata(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    metadata = value.get("metadata") or {}
    return ((name, meta(metadata[name])) for name in _META_FIELDS if metadata.get(name, "") not in _OMITTED)


def meta(value: Any) -> Any:
    """A map of labels, a label selector or another type of meta/v1: they show as clients know them."""
    if not isinstance(value, Mapping):
        return value
    if "matchLabels" in value or "matchExpressions" in value:
        return _label_selector(value)
    is_map_of_text = all(isinstance(one, str) for one in value.values())
    return {key: value[key] for key in sorted(value)} if is_map_of_text else dict(value)


def _label_selector(selector: Mapping[str, Any]) -> Mapping[str, Any]:
    shown: dict[str, Any] = {}
    if labels := selector.get("matchLabels"):
        shown["matchLabels"] = meta(labels)
    if expressions := selector.get("matchExpressions"):
        shown["matchExpressions"] = [_expression(one) for one in expressions]
    return shown


def _expression(expression: Mapping[str, Any]) -> Mapping[str, Any]:
    shown = {"key": expression.get("key", ""), "operator": expression.get("operator", "")}
    return {**shown, "values": expression["values"]} if expression.get("values") else shown


def _with_host_fields(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    moved = {name: spec[name] for name in _HOST_FIELDS if name in spec}
    return {**spec, "securityContext": {**(spec.get("securityContext") or {}), **moved}}


def _qualified(struct: str, name: str) -> str:
    return name if "." in name else f"{struct.partition('.')[0]}.{name}"


def _field_name(name: str) -> str:
    """The field of objects: what begins with several capitals is small up to the last of them (`DNSPolicy`)."""
    match = re.match("[A-Z]+", name)
    assert match is not None
    capitals = match.end()
    small = capitals if capitals in {1, len(name)} else capitals - 1
    return name[:small].lower() + name[small:]


@cache
def structs() -> Mapping[str, tuple[str, ...]]:
    """The cells of each struct, by its name."""
    text = Path(__file__).with_name("internal_types.txt").read_text()
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {name: tuple(cells) for name, *cells in rows}
