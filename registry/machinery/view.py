"""view: one served version of a resource, between request bodies and hub objects.

Pure. Every body and every result of a patch passes `to_hub` once. Must hold: a version in the hub's shape shares the
hub's bytes, so that GET, LIST and WATCH of it decode nothing. `to_hub` returns a hub object (no apiVersion, no kind)
with all its defaults.
"""

from collections.abc import Callable
from functools import cached_property

import orjson
from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.storage.stored_object import StoredObject


class Conversion(Struct, frozen=True):
    """How one served version and the hub turn into each other. Both own what they are given."""

    to_hub: Callable[[Object], Object]
    from_hub: Callable[[Object], Object]


def typed(kind: GroupVersionKind, obj: Object) -> Object:
    """An object with its type, which comes first."""
    return {"kind": kind.kind, "apiVersion": kind.api_version, **obj}


def _nothing(_obj: Object) -> None:
    """The defaults of what has none."""


class View(Struct, frozen=True, dict=True):
    """How objects look in one version.

    fill: the defaults of the version's types, in place; default: those that the kind derives, on the hub object.
    is_custom: the type comes in the order of the alphabet, and items of lists have one too.
    """

    object_kind: GroupVersionKind
    canonical: Callable[[Object], Object]
    conversion: Conversion | None = None
    fill: Callable[[Object], None] = _nothing
    default: Callable[[Object], None] = _nothing
    list_name: str = ""
    is_custom: bool = False

    @cached_property
    def prefix(self) -> bytes:
        """How the JSON of a typed object begins, up to and with the comma."""
        return orjson.dumps(self._typed({}))[:-1] + b","

    @cached_property
    def list_kind(self) -> GroupVersionKind:
        kind = self.object_kind
        return GroupVersionKind(kind.group, kind.version, self.list_name or f"{kind.kind}List")

    def _typed(self, obj: Object) -> Object:
        if self.is_custom:
            return {"apiVersion": self.object_kind.api_version, "kind": self.object_kind.kind, **obj}
        return typed(self.object_kind, obj)

    def to_hub(self, obj: Object) -> Object:
        """The hub object of a decoded one, which is used up."""
        obj.pop("kind", None)
        obj.pop("apiVersion", None)
        self.fill(obj)
        hub = self.conversion.to_hub(obj) if self.conversion else obj
        self.default(hub)
        return hub

    def versioned(self, hub: Object) -> Object:
        """The object in this version, typed, from a hub object that is used up."""
        return self._typed(self._shaped(hub))

    def printed(self, hub: Object) -> Object:
        """The same for a hub object that was never stored: with the empty members that Go prints."""
        return self._typed(self._printed(hub))

    def json(self, stored: StoredObject) -> bytes:
        """The JSON of an object, typed."""
        return self.prefix + self.item(stored)[1:]

    @property
    def has_shared_items(self) -> bool:
        """Whether the items of a list are the stored JSON of the objects."""
        return self.conversion is None and not self.is_custom

    def item(self, stored: StoredObject) -> bytes:
        """The JSON of an object without its type."""
        if self.conversion is None:
            return stored.json
        return orjson.dumps(self._shaped(stored.decode()))

    def empty(self, metadata: Object) -> Object:
        """An object of this kind that says nothing but its metadata: a bookmark."""
        return self._untyped(self.canonical({"metadata": metadata}))

    def _shaped(self, hub: Object) -> Object:
        return hub if self.conversion is None else self._printed(hub)

    def _printed(self, hub: Object) -> Object:
        return self._untyped(self.canonical(self.conversion.from_hub(hub) if self.conversion else hub))

    def _untyped(self, obj: Object) -> Object:
        obj.pop("kind", None)
        obj.pop("apiVersion", None)
        return obj
