"""States: what becomes of one object, as it happens, for tests that wait for something.

Reads the server's caches from within: it is no request, so that it is in no record and meets no fault. Must hold: the
first state is the present one; a state is shown once, and none that is newer than those of a watch.
"""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any

from apiserver.handlers.served import Served, ServedPaths
from registry.generic.following import Following
from storage.clock import Clock
from storage.stored_object import Object, StoredObject
from storage.tasks import Tasks

Show = Callable[[Object | None], None]
"""Takes an object as a GET would show it; None when it is not there."""


class States:
    """Of the objects of one server."""

    def __init__(self, served: ServedPaths, patience: Clock) -> None:
        self._served = served
        self._patience = patience

    @asynccontextmanager
    async def shown(self, resource: str, namespace: str, name: str, *, show: Show) -> AsyncIterator[None]:
        """Show an object, and every change of it, while the context is open. Raises ValueError."""
        served = self._find(resource)
        key = f"{namespace}/{name}" if served.kind.is_namespaced else name
        has_begun = False

        def changed(keys: Collection[str]) -> None:
            nonlocal has_begun
            if key in keys or not has_begun:
                has_begun = True
                show(_seen(served, following.items.get(key)))

        following: Following[StoredObject] = Following(served.storage.storage, _itself, changed)
        tasks = Tasks()
        tasks.spawn(following.run(self._patience), name=f"show {resource} {key}")
        try:
            await following.wait_until_current()
            yield
        finally:
            await tasks.close()

    def _find(self, resource: str) -> Served[Any]:
        """A resource by its plural and its group, in the version that is preferred."""
        plural, _, group = resource.partition(".")
        versions = self._served.told_groups.get(group, {}).values()
        found = next((paths[plural] for paths in versions if plural in paths), None)
        if found is None or not hasattr(found.storage, "storage"):
            raise ValueError(
                f"there is no resource {resource!r}: it is PLURAL.GROUP, as in `pods` or `deployments.apps`"
            )
        return found


def _itself(stored: StoredObject) -> StoredObject:
    return stored


def _seen(served: Served[Any], stored: StoredObject | None) -> Object | None:
    return served.view.versioned(stored.decode()) if stored is not None else None
