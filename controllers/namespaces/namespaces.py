"""Namespaces: empties a terminating namespace, pods first, and then removes its finalizer.

Must hold: the finalizer is removed after the newest state of every resource had no object in the namespace, those of
aggregated servers included.
"""

from collections.abc import Iterable

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.namespaces.namespace_conditions import Remains
from aio_apiserver.controllers.namespaces.remote_contents import RemoteContents
from aio_apiserver.controllers.runtime.client import NotServed, key_of
from aio_apiserver.controllers.runtime.controller import Controller, NotYet
from aio_apiserver.controllers.runtime.remote_client import RemoteClient
from aio_apiserver.controllers.runtime.resources import NAMESPACES, PODS
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.groups.core.namespaces.namespaces import FINALIZER


def _if_ending(namespace: Object) -> str:
    return key_of(namespace) if namespace["metadata"].get("deletionTimestamp") else ""


class NamespaceController(Controller):
    """Empties and releases namespaces."""

    name = "namespace-controller"
    qps_factor = 20
    burst_factor = 100

    def begin(self) -> None:
        self._namespaces = self.follow(NAMESPACES, _if_ending)
        self._remote = RemoteContents(RemoteClient(self.desk.aggregated, self.client.user))

    async def reconcile(self, key: str) -> float | None:
        namespace = await self.client.get(NAMESPACES, key)
        if namespace is None or not _if_ending(namespace):
            return None
        if FINALIZER not in namespace["spec"].get("finalizers", ()):
            return None
        remains = await self._empty(key)
        await self._report(namespace, remains)
        if not remains.is_empty or remains.undiscovered:
            raise NotYet
        await self.client.change(NAMESPACES.part("finalize"), namespace, _release)
        return None

    async def _empty(self, namespace: str) -> Remains:
        remains = Remains(undiscovered=self._remote.undiscovered())
        await self._delete([PODS], namespace, remains)
        if remains.is_empty:
            places = [place for place in self.client.resources("delete", "list") if place != PODS]
            await self._delete(places, namespace, remains)
            await self._remote.delete(namespace, remains)
        return remains

    async def _delete(self, places: Iterable[ResourcePath], namespace: str, remains: Remains) -> None:
        for place in places:
            try:
                if not self.client.at(place).kind.is_namespaced or not await self.client.has_any(place, namespace):
                    continue
                await self.client.delete_all(place, namespace)
                remains.count(f"{place.path}.{place.group}", await self.client.list(place, namespace))
            except NotServed:
                continue  # its definition was deleted, with all its objects
            except errors.StatusError as exc:
                remains.failures.append(str(exc))

    async def _report(self, namespace: Object, remains: Remains) -> None:
        def changed(obj: Object) -> bool:
            status = obj.setdefault("status", {})
            present = status.get("conditions") or []
            conditions = remains.conditions(present, now=self.desk.now())
            status["conditions"] = conditions
            return conditions != present

        await self.client.change(NAMESPACES.part("status"), namespace, changed)


def _release(namespace: Object) -> bool:
    finalizers = namespace["spec"].get("finalizers") or []
    namespace["spec"]["finalizers"] = [name for name in finalizers if name != FINALIZER]
    return FINALIZER in finalizers
