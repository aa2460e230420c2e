"""Params: finds the parameter objects that a binding hands to its policy."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.base.validation import label_selectors
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.kind_lookup import ServedKind
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.registry.generic.rest import Foundation

_NO_PARAMS = "no params found for policy binding with `Deny` parameterNotFoundAction"


class Misconfigured(Exception):
    """A policy or binding that cannot be used, and why."""


class Params:
    """Looks parameters up."""

    def __init__(self, given: Foundation) -> None:
        self._given = given

    async def check(self, kind: Mapping[str, Any] | None) -> None:
        """Raises Misconfigured for a policy whose paramKind is not served. No binding of it can be used then."""
        if kind is not None:
            await self._mapped(kind)

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
        found = await self._objects(mapped, kind, reference, scope)
        if not found and reference.get("parameterNotFoundAction") == "Deny":
            raise Misconfigured(_NO_PARAMS)
        api_version = f"{mapped.group}/{mapped.version}" if mapped.group else mapped.version
        return [{"kind": kind["kind"], "apiVersion": api_version, **one} for one in found]

    async def _mapped(self, kind: Mapping[str, Any]) -> ServedKind:
        found = await self._given.kinds.resources(kind.get("apiVersion", ""), kind.get("kind", ""))
        if not found:
            raise _unknown(kind)
        return found[0]

    async def _objects(
        self, mapped: ServedKind, kind: Mapping[str, Any], reference: Mapping[str, Any], scope: str
    ) -> Sequence[Object]:
        lookup = self._lookup(mapped, kind)
        name = reference.get("name")
        if name:
            found = await lookup.cached(f"{scope}{name}")
            return [found] if found is not None else []
        selector = reference.get("selector") or {}
        return await lookup.list(scope, is_selected=lambda labels: label_selectors.selects(selector, labels))

    def _lookup(self, mapped: ServedKind, kind: Mapping[str, Any]) -> Lookup[Object]:
        """The objects of a kind. Any served kind can be a parameter."""
        resource = GroupResource(mapped.group, mapped.plural)
        if mapped.stored is not None:
            return Lookup(self._given.storage_for(mapped.stored), resource, as_stored)
        storage = self._given.custom_storage(mapped.group, mapped.plural, mapped.version)
        if storage is None:
            raise _unknown(kind)
        return Lookup(storage, resource, as_stored)


def _unknown(kind: Mapping[str, Any]) -> Misconfigured:
    group, _, version = kind.get("apiVersion", "").rpartition("/")
    shown = f"{group}/{version}, Kind={kind.get('kind')}"
    return Misconfigured(f"failed to find resource referenced by paramKind: '{shown}'")


def _scope(mapped: ServedKind, reference: Mapping[str, Any], attributes: Attributes) -> str:
    if not mapped.is_namespaced:
        return ""
    namespace = reference.get("namespace") or attributes.namespace
    if not namespace:
        raise Misconfigured("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
    return f"{namespace}/"
