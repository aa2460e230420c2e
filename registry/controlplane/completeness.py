"""Completeness: whether this server has all that the OpenAPI definitions of a minor have.

A type needs protobuf numbers, and the names of its internal struct, from the generated tables. A kind needs a `Kind`.
What is missing would be lost without an error, so a server is not assembled. Each gap names the step of
docs/minors.md that was left out.

Must hold: a start skips the search for single fields when the tables were made with the installed definitions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aio_apiserver.registry.base import group_files
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.base.timeline import Version
from aio_apiserver.registry.base.validation import internal
from aio_apiserver.registry.controlplane.providers import providers_of
from aio_apiserver.registry.generic import enablement
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import RESTStorageProvider
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.core.componentstatuses import COMPONENTSTATUSES
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import Catalog, definitions, sources, wire
from aio_apiserver.registry.machinery.schema.definitions import TypeMeta

_DEFINITIONS = 'docs/minors.md, "The definitions"'
_TABLES = 'docs/minors.md, "The tables"'
_KINDS = 'docs/minors.md, "The kinds"'
_COMMON = "io.k8s.apimachinery."
_NEVER_ENCODED = "io.k8s.apimachinery.pkg.version."
_LIST = "List"
_TYPE_META = frozenset({"kind", "apiVersion"})
_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STAGES = {None: 0, "beta": 1, "alpha": 2}


class IncompleteMinor(ValueError):
    """A minor that this server cannot be, with the first thing that is missing."""

    def __init__(self, minor: Minor, gap: str) -> None:
        super().__init__(f"this server cannot be Kubernetes {minor.text}: {gap}")


def check(minor: Minor, providers: Iterable[RESTStorageProvider]) -> None:
    """Raises IncompleteMinor for a minor of which something is missing."""
    is_compared = minor.text in definitions.minors() and not _of_release(minor) and sources.are_compared(minor.text)
    gaps = _of_kinds(minor, providers) if is_compared else _all(minor, providers)
    for gap in gaps:
        raise IncompleteMinor(minor, gap)


def gaps_of(minor: Minor) -> list[str]:
    """All that is missing of a minor."""
    return list(_all(minor, providers_of(minor)))


def _all(minor: Minor, providers: Iterable[RESTStorageProvider]) -> Iterator[str]:
    if minor.text not in definitions.minors():
        yield f"the installed kubernetes-validate has no definitions of it ({_DEFINITIONS})"
        return
    types = schema.builtin(minor.text)
    yield from _of_numbers(types)
    yield from _of_names(types, minor.version)
    yield from _of_release(minor)
    yield from _of_kinds(minor, providers)


def _of_release(minor: Minor) -> list[str]:
    """The tables are made from the release that the server behaves as."""
    release = sources.release_of(minor.text)
    if release == minor.git_version:
        return []
    return [f"its tables are made from {release or 'no release'}, not from {minor.git_version} ({_TABLES})"]


def _of_numbers(types: Catalog) -> Iterator[str]:
    """Each field of a type has a protobuf number."""
    for definition, fields in _fields(types):
        if definition.startswith(_NEVER_ENCODED):
            continue
        for place in wire.layout(definition, fields, types.minor):
            if place.field is None and place.name not in _TYPE_META:
                yield f"{definition}.{place.name} has no protobuf number ({_TABLES})"


def _of_names(types: Catalog, version: Version) -> Iterator[str]:
    """Each field of a type of a group has a name in the group's internal struct, or is known not to be there."""
    for struct, (definition, fields) in _preferred(types).items():
        names = internal.fields_of(struct, version)
        for field in fields:
            if names is None or field not in names | _TYPE_META:
                yield f"{definition}.{field} has no internal name ({_TABLES})"


def _of_kinds(minor: Minor, providers: Iterable[RESTStorageProvider]) -> Iterator[str]:
    """Each stable kind that can be listed is declared."""
    kinds = _declared(providers)
    declared = {TypeMeta(kind.group, version, kind.kind) for kind in kinds for version in kind.versions}
    published = schema.builtin(minor.text).kinds
    for one, definition in published.items():
        list_ = TypeMeta(one.group, one.version, one.kind + _LIST)
        is_resource = list_ in published and not definition.startswith(_COMMON)
        if is_resource and enablement.is_stable(one.version) and one not in declared:
            yield f"{one.kind} of {one.group or 'core'}/{one.version} is not declared ({_KINDS})"


def _declared(providers: Iterable[RESTStorageProvider]) -> Iterator[Kind]:
    yield COMPONENTSTATUSES
    for provider in providers:
        if isinstance(provider, KindsProvider):
            yield from provider.kinds
            for kinds in provider.also.values():
                yield from kinds


def _fields(types: Catalog) -> Iterator[tuple[str, list[str]]]:
    """The definitions of objects, each with its fields."""
    for definition in types.definitions:
        properties: Mapping[str, Any] = types.definitions[definition].get("properties", {})
        if properties:
            yield definition, list(properties)


def _preferred(types: Catalog) -> Mapping[str, tuple[str, list[str]]]:
    """The definition in the preferred version, with its fields, by the internal struct (`core.PodSpec`)."""
    found: dict[str, tuple[str, list[str]]] = {}
    for definition, fields in sorted(_fields(types), key=lambda one: _rank(one[0]), reverse=True):
        group, _, name = definition.rsplit(".", 3)[-3:]
        if group in group_files.folders() and not name.endswith(_LIST):
            found[f"{group}.{name}"] = (definition, fields)
    return found


def _rank(definition: str) -> tuple[int, int, int]:
    """The order of versions: stable before beta before alpha, and the newest of each first."""
    match = _VERSION.fullmatch(definition.rsplit(".", 2)[-2])
    return (_STAGES[match[2]], -int(match[1]), -int(match[3] or 0)) if match else (len(_STAGES), 0, 0)
