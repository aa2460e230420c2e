"""Resource: the facts of a kind that storage needs: group, key prefix, selectable fields.

Pure. Must hold: all code that stores objects of a kind uses this function, so that they share one storage and one
cache.
"""

from collections.abc import Callable, Mapping

from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.storage.interface import Resource
from aio_apiserver.storage.stored_object import Object


def resource_of(kind: Kind) -> Resource:
    """The facts of a kind that storage needs."""
    extract = tuple(kind.fields.items())

    def fields(obj: Object) -> Mapping[str, str]:
        found = {}
        for name, value_of in extract:
            found[name] = value_of(obj)
        return found

    return Resource(
        group=kind.group,
        resource=kind.plural,
        namespaced=kind.is_namespaced,
        type_meta={"kind": kind.kind, "apiVersion": kind.api_version(kind.stored_version or kind.hub_version)},
        fields=fields,
        triggers=kind.triggers,
        place=kind.place,
        is_json=kind.is_stored_as_json,
        default=kind.strategy.default,
        is_cached=kind.is_cached,
        restore=_restored(kind) if kind.decorate is not None or kind.stored_conversions else None,
    )


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
