"""remote_contents: deletes the objects that aggregated servers have in a terminating namespace.

Discovery says which resources such a server has. Must hold: a resource that supports no `deletecollection` is emptied
object by object, as kube-controller-manager does.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.namespaces.namespace_conditions import Remains
from aio_apiserver.controllers.runtime.remote_client import RemoteClient, items_of
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.aggregated import DiscoveredVersion

_UNSUPPORTED = (404, 405)
"""Answers of servers that list a verb and do not serve it. A deleted object is not found, either."""
_BACKGROUND = {"propagationPolicy": "Background"}


class _RemoteResource(Struct, frozen=True):
    """A namespaced resource that can be deleted, in its preferred version."""

    group: str
    version: str
    plural: str
    verbs: Sequence[str]


class RemoteContents(Struct, frozen=True):
    """The objects of all aggregated servers, by namespace."""

    client: RemoteClient

    def undiscovered(self) -> Sequence[str]:
        """The versions whose servers do not answer."""
        return [f"{one.group}/{one.version}" for one in self.client.aggregated.discovered() if not one.is_current]

    async def delete(self, namespace: str, remains: Remains) -> None:
        """Delete all objects in a namespace, and count those that remain."""
        for resource in _deletable(self.client.aggregated.discovered()):
            try:
                await self._delete_all(resource, namespace)
                remains.count(f"{resource.plural}.{resource.group}", await self._list(resource, namespace))
            except errors.StatusError as exc:
                remains.failures.append(str(exc))

    async def _delete_all(self, resource: _RemoteResource, namespace: str) -> None:
        """Delete the objects of a resource. Raises StatusError."""
        if "deletecollection" in resource.verbs and await self._delete(resource, namespace):
            return
        for one in await self._list(resource, namespace):
            await self._delete(resource, namespace, str(one["metadata"].get("name") or ""))

    async def _delete(self, resource: _RemoteResource, namespace: str, *name: str) -> bool:
        """Delete an object, or all of them. Returns whether the server supports that. Raises StatusError."""
        segments = ("namespaces", namespace, resource.plural, *name)
        try:
            await self.client.delete(resource.group, resource.version, segments, **_BACKGROUND)
        except errors.StatusError as exc:
            if exc.code not in _UNSUPPORTED:
                raise
            return False
        return True

    async def _list(self, resource: _RemoteResource, namespace: str) -> Sequence[Object]:
        """The objects of a resource, as far as the server lists them. Raises StatusError."""
        if "list" not in resource.verbs:
            return ()
        segments = ("namespaces", namespace, resource.plural)
        try:
            found = items_of(await self.client.get(resource.group, resource.version, segments))
        except errors.StatusError as exc:
            if exc.code not in _UNSUPPORTED:
                raise
            return ()
        if not all(isinstance(one, dict) and isinstance(one.get("metadata"), dict) for one in found):
            raise errors.StatusError(f"the list of {resource.plural}.{resource.group} has items without metadata")
        return found


def _deletable(versions: Iterable[DiscoveredVersion]) -> Iterable[_RemoteResource]:
    """The namespaced resources that can be deleted, each in its preferred version."""
    found: dict[tuple[str, str], _RemoteResource] = {}
    for one in versions:
        for entry in one.resources if one.is_current else ():
            if _is_deletable(entry):
                plural = entry["resource"]
                resource = _RemoteResource(one.group, one.version, plural, entry["verbs"])
                found.setdefault((one.group, plural), resource)
    return found.values()


def _is_deletable(entry: Mapping[str, Any]) -> bool:
    return entry.get("scope") == "Namespaced" and "delete" in (entry.get("verbs") or ())
