"""Internal: structs in the form of kube-apiserver's internal types, which its errors print.

`form("core.PodSpec", spec)` makes `{"Volumes":null,"InitContainers":null,...}` from a part of a hub object. A
FieldError prints the result. A group has the structs in its internal_types.txt, which is read at the first use: fields
in their order, as `Name:shape`. A field of objects is named as the Go field with a small beginning (DNSPolicy:
dnsPolicy) or `Name=field`; `.` is the object itself. `+Type` is a struct whose fields stand among the others.

A shape is text, number, flag, quantity, duration, number-or-text, any, meta (a type of meta/v1, shown as it is) or a
struct. A struct is named `PodSpec` in its own group and `core.PodSpec` from another one. A row `core.PodSpec@1.33,1.34`
is the struct in these minors; the row without minors is that of all others. An absent text, number or flag
shows as "", 0 or false. `*`, `[]` and `{}` before a shape make a pointer, list or map, and null when absent.
`~field` is a field of the object that the struct does not have. The files are generated
(scripts/upstream/tables/internal_types.py).

Pure. Must hold: fields that the internal type does not have are not shown. Maps are in the order of their keys.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from aio_apiserver.registry.base import group_files, timeline
from aio_apiserver.registry.base.timeline import DEFAULT, Version

_FILE = "internal_types.txt"
_NOT_SHOWN = "~"
_METADATA = "+metadata"
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
_META_MEMBERS = {
    "ownerReferences": ("apiVersion kind name uid", "controller blockOwnerDeletion"),
    "managedFields": ("", "manager operation apiVersion time fieldsType fieldsV1 subresource"),
}
_OMITTED: tuple[Any, ...] = ("", {}, [], None)
_HOST_FIELDS = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
"""Fields of a PodSpec that the internal type kept in its SecurityContext."""
_HOST_FIELDS_STAY = (1, 37)

_Show = Callable[[Any], Any]
_Part = Callable[[Mapping[str, Any]], Iterator[tuple[str, Any]]]


def form(struct: str, value: Mapping[str, Any] | None, version: Version = DEFAULT) -> Any:
    """The value as the struct of this name in a minor; None for an absent value."""
    return None if value is None else _struct(struct, version)(value)


@cache
def _struct(name: str, version: Version) -> _Show:
    parts = [_part(name, cell, version) for cell in _cells(name, version) if not cell.startswith(_NOT_SHOWN)]
    moves_host_fields = name == "core.PodSpec" and version < _HOST_FIELDS_STAY

    def show(value: Any) -> Any:
        given = value or {}
        if moves_host_fields:
            given = _with_host_fields(given)
        return {field: shown for part in parts for field, shown in part(given)}

    return show


def _cells(name: str, version: Version) -> tuple[str, ...]:
    rows = structs(name.partition(".")[0])
    return rows.get(f"{name}@{timeline.text_of(version)}") or rows[name]


def _part(struct: str, cell: str, version: Version) -> _Part:
    """The reader of one cell of the table: it yields field names and values."""
    if cell == _METADATA:
        return _metadata
    if cell.startswith("+"):
        embedded = _struct(_qualified(struct, cell[1:]), version)
        return lambda value: iter(embedded(value).items())
    names, _, shape = cell.partition(":")
    name, _, given = names.partition("=")
    field, show = given or _field_name(name), _shape(struct, shape, version)
    if field == ".":
        return lambda value: iter(((name, show(value)),))
    return lambda value: iter(((name, show(value.get(field))),))


def _shape(struct: str, shape: str, version: Version) -> _Show:
    if shape.startswith("*"):
        return _unless_absent(_shape(struct, shape[1:], version))
    if shape.startswith("[]"):
        element = _shape(struct, shape[2:], version)
        return _unless_absent(lambda value: [element(one) for one in value])
    if shape.startswith("{}"):
        member = _shape(struct, shape[2:], version)
        return _unless_absent(lambda value: {key: member(value[key]) for key in sorted(value)})
    if shape == "meta":
        return meta
    if shape in _ABSENT:
        absent = _ABSENT[shape]
        return lambda value: absent if value is None else value
    # Looked up at the first value, since types contain themselves.
    name = _qualified(struct, shape)
    return lambda value: _struct(name, version)(value)


def _unless_absent(show: _Show) -> _Show:
    return lambda value: None if value is None else show(value)


def _metadata(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    metadata = value.get("metadata") or {}
    for name in _META_FIELDS:
        if metadata.get(name, "") not in _OMITTED:
            order = _META_MEMBERS.get(name)
            yield name, [_ordered(one, *order) for one in metadata[name]] if order else meta(metadata[name])


def _ordered(value: Mapping[str, Any], always: str, rest: str) -> Mapping[str, Any]:
    """The members in the order of the Go struct: those that it always has, and those that it has when set."""
    given = {name: value[name] for name in rest.split() if value.get(name) not in ("", None)}
    return {**{name: value.get(name) or "" for name in always.split()}, **given}


def meta(value: Any) -> Any:
    """A map of labels, a label selector or another type of meta/v1, which show with their JSON names."""
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
    """The JSON name of a Go field. Leading capitals but the last become small: `DNSPolicy` is `dnsPolicy`."""
    match = re.match("[A-Z]+", name)
    assert match is not None
    capitals = match.end()
    small = capitals if capitals in {1, len(name)} else capitals - 1
    return name[:small].lower() + name[small:]


def fields_of(struct: str, version: Version) -> frozenset[str] | None:
    """The fields of an object that the row of its struct names, also those that are not shown; None without a row."""
    rows = structs(struct.partition(".")[0])
    return frozenset(_named_fields(struct, version)) if struct in rows else None


def _named_fields(struct: str, version: Version) -> Iterator[str]:
    for cell in _cells(struct, version):
        names, _, shape = cell.partition(":")
        name, _, given = names.partition("=")
        if cell == _METADATA:
            yield "metadata"
        elif cell.startswith("+"):
            yield from _named_fields(_qualified(struct, cell[1:]), version)
        elif given == ".":
            yield from _named_fields(_qualified(struct, shape), version)
        else:
            yield given or (name[1:] if name.startswith(_NOT_SHOWN) else _field_name(name))


@cache
def structs(group: str) -> Mapping[str, tuple[str, ...]]:
    """The cells of each struct of a group, by the name of the struct."""
    data = group_files.read(group, _FILE) or b""
    rows = [line.split() for line in data.decode().splitlines() if not line.startswith("#")]
    return {name: tuple(cells) for names, *cells in rows for name in _named(names)}


def _named(names: str) -> Iterator[str]:
    """The names of a row: one for each of its minors."""
    name, at, minors = names.partition("@")
    return (f"{name}@{minor}" for minor in minors.split(",")) if at else iter((name,))
