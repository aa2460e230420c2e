"""type_facts: what is true of the Go types of Kubernetes and is not written in their OpenAPI definitions.

An API group keeps the facts of its types in `registry/groups/<group>/types.json`, by the name of the type. Where
versions differ, the key is version and name (`v1.EndpointPort`). types.json beside this file has the types that all
groups share, and those of groups that this server does not serve. A file is read at the first type of its group.

    defaults              a default that each object gets, whatever else it says. `protocol` of ports must be here: it
                          is a key of lists. A default that depends on other fields is a rule of the kind's strategy.
    openapi_defaults      the default that OpenAPI v3 shows (null: none), where it does not follow from the Go type
    enums                 the values that OpenAPI lists for the field, or for its elements
    pointers              whether the Go field is a pointer, where the name of the field tells the wrong thing
    printed               whether JSON has the field when it is empty, where `required` tells the wrong thing
    hidden_when_zero      fields with a struct that JSON leaves out when it is zero (Go's omitzero)
    kept_when_sent_empty  fields whose empty value has a meaning: it resets managedFields, replaces default policies,
                          differs from a missing value in immutable data, or appears in errors
    old_versions          apiVersions that kube-apiserver reads and does not serve
    other_groups          groups whose kind of this name is the same kind

A key with minors (`v1.ResourceSliceSpec@1.33,1.34`) has the facts that are different in these minors.

Must hold: a group without a file, and a type without a row, have no facts and are no error. Groups that clients name
are not cached.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.registry.base import group_files

_LEGACY_SCHEME = "pkg/api/legacyscheme/scheme.go:30"
_FILE = "types.json"


class TypeFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """The facts of one type."""

    defaults: Mapping[str, Any] = {}
    openapi_defaults: Mapping[str, Any] = {}
    enums: Mapping[str, Sequence[str]] = {}
    pointers: Mapping[str, bool] = {}
    printed: Mapping[str, bool] = {}
    hidden_when_zero: Sequence[str] = ()
    kept_when_sent_empty: Sequence[str] = ()
    old_versions: Sequence[str] = ()
    other_groups: Sequence[str] = ()


class GroupFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """The facts of a group's types. `scheme` is the place in kube-apiserver's source that its messages name."""

    group: str = ""
    scheme: str = _LEGACY_SCHEME
    types: Mapping[str, TypeFacts] = {}


_NO_GROUP = GroupFacts()
_NOTHING = TypeFacts()


def of_group(group: str) -> GroupFacts:
    """The facts of the types of an API group."""
    folder = group.partition(".")[0] or "core"
    facts = _of_folder(folder) if folder in group_files.folders() else _NO_GROUP
    return facts if facts.group == group else _NO_GROUP


def all_types() -> Iterator[tuple[str, TypeFacts]]:
    """The types of all groups by their names, each with its facts."""
    for folder in sorted(group_files.folders()):
        yield from _of_folder(folder).types.items()


@cache
def of_type(definition: str, minor: str = "") -> TypeFacts:
    """The facts of the type behind an OpenAPI definition (`io.k8s.api.core.v1.PodSpec`), as a minor has them."""
    folder, version, name = ("", "", *definition.rsplit(".", 3))[-3:]
    types = _of_folder(folder).types if folder in group_files.folders() else _shared()
    of_all, of_version = types.get(name, _NOTHING), types.get(f"{version}.{name}", _NOTHING)
    facts = of_all if of_version is _NOTHING else _joined(of_all, of_version)
    different = _of_minors(folder).get((f"{version}.{name}", minor)) if minor else None
    return facts if different is None else _joined(facts, different)


@cache
def _of_minors(folder: str) -> Mapping[tuple[str, str], TypeFacts]:
    """The facts of a group that are different in some minors, by type and minor."""
    types = _of_folder(folder).types if folder in group_files.folders() else _shared()
    rows = (((name, minors), facts) for key, facts in types.items() for name, at, minors in [key.partition("@")] if at)
    return {(name, minor): facts for (name, minors), facts in rows for minor in minors.split(",")}


@cache
def _of_folder(folder: str) -> GroupFacts:
    data = group_files.read(folder, _FILE)
    return _NO_GROUP if data is None else msgspec.json.decode(data, type=GroupFacts)


@cache
def _shared() -> Mapping[str, TypeFacts]:
    data = Path(__file__).with_name(_FILE).read_bytes()
    return msgspec.json.decode(data, type=GroupFacts).types


def _joined(of_all: TypeFacts, of_version: TypeFacts) -> TypeFacts:
    return replace(
        of_all,
        printed={**of_all.printed, **of_version.printed},
        pointers={**of_all.pointers, **of_version.pointers},
        defaults={**of_all.defaults, **of_version.defaults},
        openapi_defaults={**of_all.openapi_defaults, **of_version.openapi_defaults},
        enums={**of_all.enums, **of_version.enums},
    )
