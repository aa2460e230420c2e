"""Params: finds the parameter objects that a binding hands to its policy."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.base.validation import label_selectors
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.interpret import StorageCall, interpreted
from aio_apiserver.registry.generic.kind_lookup import KindLookup, ServedKind
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.storage.interface import ListOptions, Reader, Resource
from aio_apiserver.storage.stored_object import Object, StoredObject

_NO_PARAMS = "no params found for policy binding with `Deny` parameterNotFoundAction"
_AT_HAND = ListOptions(resource_version=0)


class Misconfigured(Exception):
    """A policy or binding that cannot be used, and why."""


class Params:
    """Reads parameters from the storage of their kind."""

    def __init__(self, storage_for: ReaderFor, kinds: KindLookup) -> None:
        self._storage_for = storage_for
        self._kinds = kinds

    async def collect(
        self, kind: Mapping[str, Any] | None, reference: Mapping[str, Any] | None, attributes: Attributes
    ) -> Sequence[Object | None]:
        """The parameters of a binding; `[None]` for a policy without parameters. Raises Misconfigured."""
        if kind is None or reference is None:
            return [None]
        mapped = await self._mapped(kind)
        if reference.get("namespace") and not mapped.is_namespaced:
            raise Misconfigured("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        scope = _scope(mapped, reference, attributes)
        found = await self._found(mapped, reference, scope)
        if not found and reference.get("parameterNotFoundAction") == "Deny":
            raise Misconfigured(_NO_PARAMS)
        api_version = f"{mapped.group}/{mapped.version}" if mapped.group else mapped.version
        return [{"kind": kind["kind"], "apiVersion": api_version, **one.decode()} for one in found]

    async def _mapped(self, kind: Mapping[str, Any]) -> ServedKind:
        found = await self._kinds.resources(kind.get("apiVersion", ""), kind.get("kind", ""))
        if not found:
            shown = f"&ParamKind{{APIVersion:{kind.get('apiVersion')},Kind:{kind.get('kind')},}}"
            raise Misconfigured(f"paramKind kind `{shown}` not known")
        return found[0]

    async def _found(self, mapped: ServedKind, reference: Mapping[str, Any], scope: str) -> Sequence[StoredObject]:
        storage = self._storage(mapped)
        resource = GroupResource(mapped.group, mapped.plural)
        name = reference.get("name")
        if name:
            try:
                reading = StorageCall(resource, "get", name)
                return [await interpreted(storage.get(f"{scope}{name}", resource_version=0), reading)]
            except errors.NotFound:
                return []
        selector = reference.get("selector") or {}
        listed = await interpreted(storage.get_list(scope, _AT_HAND), StorageCall(resource, "list"))
        return [one for one in listed.items if label_selectors.selects(selector, one.labels)]

    def _storage(self, mapped: ServedKind) -> Reader:
        """The storage of a kind. Any served kind can be a parameter."""
        view = mapped.version if mapped.is_custom else ""
        place = f"{mapped.group}/{mapped.plural}" if mapped.is_custom else ""
        return self._storage_for(
            Resource(
                group=mapped.group, resource=mapped.plural, namespaced=mapped.is_namespaced, view=view, place=place
            )
        )


def _scope(mapped: ServedKind, reference: Mapping[str, Any], attributes: Attributes) -> str:
    if not mapped.is_namespaced:
        return ""
    namespace = reference.get("namespace") or attributes.namespace
    if not namespace:
        raise Misconfigured("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
    return f"{namespace}/"
