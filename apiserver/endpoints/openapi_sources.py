"""OpenAPI sources: what is served, told to those who write OpenAPI documents.

The one place that knows both how resources are served and how they are published.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from apiserver.handlers import verbs
from apiserver.handlers.served import Served, ServedPaths
from registry.openapi import roots
from registry.openapi.builtin import GroupVersion, Resource
from registry.openapi.routes import Source
from registry.schema import Catalog, UnknownKind

Sources = Callable[[], Mapping[str, Source]]
"""The sources of everything that is served now, by path: the same mapping as long as nothing changes."""


def of(served: ServedPaths, types: Catalog) -> Sources:
    """The sources of what is served."""

    @cache
    def current() -> Mapping[str, Source]:
        sources = {source.path: source for source in _built_in(served, types)}
        return {path: sources[path] for path in sorted(sources)}

    return current


def _built_in(served: ServedPaths, types: Catalog) -> Sequence[Source]:
    minor = types.minor
    found: dict[tuple[str, str], list[Resource]] = {}
    for (group, version, path), one in served.items():
        found.setdefault((group, version), []).append(_resource(path, one, types))
    versions = [GroupVersion(group, version, minor, resources) for (group, version), resources in found.items()]
    return [
        roots.legacy(minor),
        roots.groups(minor),
        roots.version(minor),
        *roots.issuer(minor),
        *(roots.group(name, minor) for name in _groups(found)),
        *versions,
    ]


def _groups(group_versions: Iterable[tuple[str, str]]) -> Sequence[str]:
    return sorted({group for group, _ in group_versions if group})


def _resource(path: str, served: Served[Any], types: Catalog) -> Resource:
    kind = served.view.object_kind
    return Resource(
        path=path,
        kind=served.kind.kind,
        is_namespaced=served.kind.is_namespaced,
        object_kind=kind,
        definition=_definition(served, types),
        verbs=frozenset(verbs.verbs_of(served)),
        returns_deleted_object=served.kind.returns_deleted_object,
    )


def _definition(served: Served[Any], types: Catalog) -> str:
    """The name of the type; nothing for the options of connections, which are not published."""
    kind = served.view.object_kind
    try:
        return types.type_for(kind.group, kind.version, kind.kind).definition
    except UnknownKind:
        return ""
