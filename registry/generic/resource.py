"""Resource: the facts of a kind that storage needs: group, key prefix, selectable fields.

Pure. Must hold: all code that stores objects of a kind uses this function, so that they share one storage and one
cache. The server adapts each resource to its minor, whichever part opens the storage first.
"""

from collections.abc import Callable

from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import fields
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.machinery.schema import Catalog, unknown_fields
from aio_apiserver.storage.interface import Resource


class KindResource(Resource, frozen=True, kw_only=True):
    """The resource of a kind that the server declares itself."""

    kind: Kind


def resource_of(kind: Kind) -> Resource:
    """The facts of a kind that storage needs."""
    return KindResource(
        kind=kind,
        group=kind.group,
        resource=kind.plural,
        namespaced=kind.is_namespaced,
        type_meta={"kind": kind.kind, "apiVersion": kind.api_version(kind.stored_version or kind.hub_version)},
        fields=fields.reader_of(kind.fields),
        triggers=kind.triggers,
        place=kind.place,
        is_json=kind.is_stored_as_json,
        default=kind.strategy.default,
        is_cached=kind.is_cached,
        restore=_restored(kind) if kind.decorate is not None or kind.stored_conversions else None,
    )


def adapter(minor: Minor, types: Catalog) -> Callable[[Resource], Resource]:
    """Makes the facts of a resource those of a minor."""

    def adapted(resource: Resource) -> Resource:
        if not isinstance(resource, KindResource):
            return resource
        found = resource if _is_of(resource.kind, minor) else _at(resource, minor)
        drop = unknown_fields.dropper(types, found.type_meta)
        return found if drop is None else replace(found, drop_unknown=drop)

    return adapted


def _is_of(kind: Kind, minor: Minor) -> bool:
    """Whether nothing that storage needs is different in the minor."""
    return kind.strategy.version == minor.version and not kind.history


def _at(resource: KindResource, minor: Minor) -> Resource:
    """The resource as a minor has it. One that the minor does not serve stays: the server may look for objects."""
    kind = resource.kind.at(minor)
    return resource_of(kind) if kind.versions else resource


def _restored(kind: Kind) -> Callable[[Object], Object]:
    """Converts and completes a stored value before readers and watchers see it. It runs once, when it is decoded."""

    def restore(value: Object) -> Object:
        value.pop("kind", None)
        convert = kind.stored_conversions.get(value.pop("apiVersion", "").rpartition("/")[2])
        hub = convert(value) if convert is not None else value
        if kind.decorate is not None:
            kind.decorate(hub)
        return hub

    return restore
