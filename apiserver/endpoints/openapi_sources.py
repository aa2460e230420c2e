"""OpenAPI sources: describes the served resources for the writers of OpenAPI documents.

It connects Served with registry/machinery/openapi, which must not know it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from aio_apiserver.registry.controlplane.served_paths import ServedGroups, ServedPaths
from aio_apiserver.registry.generic import verbs
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Definition, Version
from aio_apiserver.registry.machinery.openapi import roots
from aio_apiserver.registry.machinery.openapi.builtin import GroupVersion
from aio_apiserver.registry.machinery.openapi.builtin_routes import DocumentedResource
from aio_apiserver.registry.machinery.openapi.custom import CustomGroupVersion, CustomResource
from aio_apiserver.registry.machinery.openapi.routes import DocumentSource
from aio_apiserver.registry.machinery.schema import Catalog, UnknownKind

Sources = Callable[[], Mapping[str, DocumentSource]]
"""The sources of all served resources by path. The mapping is the same object while nothing changes."""


def of(served: ServedPaths, types: Catalog) -> Sources:
    """The sources of the served resources. Built-in ones are made once, custom ones after each change."""
    built_in = cache(lambda: {source.path: source for source in _built_in(served.fixed_groups, types)})

    @lru_cache(maxsize=1)
    def at_generation(_generation: int) -> Mapping[str, DocumentSource]:
        sources = {**{source.path: source for source in _custom(served.definitions, types.minor)}, **built_in()}
        return {path: sources[path] for path in sorted(sources)}

    return lambda: at_generation(served.generation)


def _built_in(groups: ServedGroups, types: Catalog) -> Sequence[DocumentSource]:
    minor = types.minor
    return [
        roots.legacy(minor),
        roots.groups(minor),
        roots.version(minor),
        *roots.issuer(minor),
        *(roots.group(name, minor) for name in groups if name),
        *(
            GroupVersion(group, version, minor, [_resource(path, one, types) for path, one in paths.items()])
            for group, versions in groups.items()
            for version, paths in versions.items()
        ),
    ]


def _custom(definitions: Iterable[Definition], minor: str) -> Sequence[DocumentSource]:
    found: dict[tuple[str, str], list[CustomResource]] = {}
    for definition in definitions:
        for version in definition.served_versions:
            found.setdefault((definition.group, version.name), []).append(_custom_resource(definition, version))
    return [CustomGroupVersion(group, version, minor, resources) for (group, version), resources in found.items()]


def _custom_resource(definition: Definition, version: Version) -> CustomResource:
    return CustomResource(
        plural=definition.accepted["plural"],
        kind=definition.accepted["kind"],
        list_kind=definition.accepted["listKind"],
        is_namespaced=definition.is_namespaced,
        schema=definition.schema_reader(version.name),
        digest=(definition.uid, definition.digest),
        has_status=version.has_status,
        has_scale=version.scale is not None,
        preserves_unknown_fields=definition.preserves_unknown_fields,
        selectable_fields=[one["jsonPath"] for one in version.facts.get("selectableFields") or ()],
    )


def _resource(path: str, served: Served[Any], types: Catalog) -> DocumentedResource:
    kind = served.view.object_kind
    return DocumentedResource(
        path=path,
        kind=served.kind.kind,
        is_namespaced=served.kind.is_namespaced,
        object_kind=kind,
        definition=_definition(served, types),
        verbs=served.verbs & frozenset(verbs.IN_ORDER),
        returns_deleted_object=served.kind.returns_deleted_object and not served.kind.hides_deleted_object,
    )


def _definition(served: Served[Any], types: Catalog) -> str:
    """The name of the type's definition; empty for options of connect subresources, which are not published."""
    kind = served.view.object_kind
    try:
        return types.type_for(kind.group, kind.version, kind.kind).definition
    except UnknownKind:
        return ""
