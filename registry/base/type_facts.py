"""type_facts: what is true of the Go types of Kubernetes and is not written in their OpenAPI definitions.

An API group has the facts of its types in `registry/groups/<group>/types.json`, by the name of the type. types.json
beside this file has the types that all groups share, and those of groups without a folder. The files are generated
(scripts/upstream/tables/type_facts.py) and read at the first type of their group.

    defaults              a default that each object gets, whatever else it says. A default that depends on other
                          fields is a rule of the kind's strategy.
    openapi_defaults      the default that OpenAPI v3 shows, where it does not follow from the Go type
    enums                 the values that OpenAPI lists for the field, or for its elements
    old_versions          apiVersions of a kind that kube-apiserver reads and does not serve
    other_groups          groups whose kind of this name is the same kind

A row is of a type in all versions (`PodSpec`) or in one (`v1.PodSpec`). It may be of some minors alone
(`v1.PodSpec@1.33,1.34`), where null takes a fact away. Beside types.json, kept_empties.json is written by hand. It has
the fields whose empty value has a meaning. Such a value resets managedFields, replaces default policies, differs from a
missing value in immutable data, or appears in errors.

Must hold: a group without a file, and a type without a row, have no facts and are no error. Groups that clients name
are not cached.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from aio_apiserver.registry.base import group_files

_FILE = "types.json"
_EMPTIES = "kept_empties.json"


class TypeFacts(Struct, frozen=True):
    """The facts of one type."""

    defaults: Mapping[str, Any] = {}
    openapi_defaults: Mapping[str, Any] = {}
    enums: Mapping[str, Sequence[str]] = {}
    kept_when_sent_empty: Sequence[str] = ()


class TypeRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of a file. A fact that is None, and a field with None, is taken away."""

    defaults: Mapping[str, Any] = {}
    openapi_defaults: Mapping[str, Any] = {}
    enums: Mapping[str, Sequence[str] | None] = {}
    old_versions: Sequence[str] | None = ()
    other_groups: Sequence[str] | None = ()


Rows = Mapping[str, TypeRow]


class _Group(Struct, frozen=True):
    types: Rows


class _Shared(Struct, frozen=True):
    groups: Mapping[str, Rows]


_NOTHING = TypeFacts()


@cache
def of_type(definition: str, minor: str) -> TypeFacts:
    """The facts of the type behind an OpenAPI definition (`io.k8s.api.core.v1.PodSpec`), as a minor has them."""
    group, version, name = ("", "", *definition.rsplit(".", 3))[-3:]
    rows = [*_rows(group, name, minor), *_rows(group, f"{version}.{name}", minor)]
    empties = _empties(group).get(name, ())
    if not rows and not empties:
        return _NOTHING
    return TypeFacts(
        defaults=_joined([row.defaults for row in rows]),
        openapi_defaults=_joined([row.openapi_defaults for row in rows]),
        enums=_joined([row.enums for row in rows]),
        kept_when_sent_empty=empties,
    )


@cache
def old_versions(minor: str) -> frozenset[tuple[str, str]]:
    """The apiVersions with their kinds that a minor reads and does not serve."""
    return frozenset(
        (version, name)
        for group in (*sorted(group_files.folders()), *_shared())
        for name in {key.partition("@")[0] for key in _of_group(group)}
        for version in _newest([row.old_versions for row in _rows(group, name, minor)])
    )


def other_groups(group: str, kind: str, minor: str) -> Sequence[str]:
    """The groups whose kind of this name is the same as that of a group of Kubernetes."""
    name = group.partition(".")[0] or "core"
    return _newest([row.other_groups for row in _rows(name, kind, minor)])


def all_names() -> Iterator[str]:
    """The names of the types of all rows."""
    for group in (*sorted(group_files.folders()), *_shared()):
        yield from (key.partition("@")[0].rpartition(".")[2] for key in (*_of_group(group), *_empties(group)))


def _rows(group: str, key: str, minor: str) -> list[TypeRow]:
    """The rows of a type: that of all minors, and those of a minor."""
    row = _of_group(group).get(key)
    different = _of_minors(group).get((key, minor), ())
    return [*([] if row is None else [row]), *different]


def _of_group(group: str) -> Rows:
    return _of_folder(group) if group in group_files.folders() else _shared().get(group, {})


def _of_minors(group: str) -> Mapping[tuple[str, str], Sequence[TypeRow]]:
    is_known = group in group_files.folders() or group in _shared()
    return _different(group) if is_known else {}


@cache
def _different(group: str) -> Mapping[tuple[str, str], Sequence[TypeRow]]:
    """The rows of a group that are those of some minors, by key and minor."""
    found: dict[tuple[str, str], list[TypeRow]] = {}
    for key, row in _of_group(group).items():
        name, _, minors = key.partition("@")
        for minor in filter(None, minors.split(",")):
            found.setdefault((name, minor), []).append(row)
    return found


@cache
def _of_folder(folder: str) -> Rows:
    data = group_files.read(folder, _FILE)
    return {} if data is None else msgspec.json.decode(data, type=_Group).types


@cache
def _shared() -> Mapping[str, Rows]:
    return msgspec.json.decode(Path(__file__).with_name(_FILE).read_bytes(), type=_Shared).groups


def _empties(group: str) -> Mapping[str, Sequence[str]]:
    """The fields of types whose empty value has a meaning."""
    return _empties_of_folder(group) if group in group_files.folders() else _shared_empties()


@cache
def _empties_of_folder(folder: str) -> Mapping[str, Sequence[str]]:
    data = group_files.read(folder, _EMPTIES)
    return {} if data is None else msgspec.json.decode(data, type=dict[str, tuple[str, ...]])


@cache
def _shared_empties() -> Mapping[str, Sequence[str]]:
    return msgspec.json.decode(Path(__file__).with_name(_EMPTIES).read_bytes(), type=dict[str, tuple[str, ...]])


def _joined(facts: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    joined: dict[str, Any] = {}
    for fields in facts:
        joined |= fields
    return {name: value for name, value in joined.items() if value is not None}


def _newest(facts: Sequence[Sequence[str] | None]) -> Sequence[str]:
    """The last row's values of a fact that a row has at once."""
    values = [value for value in facts if value != ()]
    return (values[-1] or ()) if values else ()
