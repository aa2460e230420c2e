"""Garbage collector: deletes objects whose owners are gone, over all resources, custom ones included.

For foreground and orphaning deletion it removes the finalizer when the dependents are deleted or released. The keys of
its queue are uids. Must hold: before a deletion, the newest state is read for the missing owner. An owner counts
as missing after the store has denied it.
"""

import asyncio

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.garbage_collection import ownership
from aio_apiserver.controllers.garbage_collection.ownership import Fate, Graph, GraphPlace, ObjectNode, Reference
from aio_apiserver.controllers.runtime.client import NotServed, split
from aio_apiserver.controllers.runtime.controller import Controller, Desk, NotYet
from aio_apiserver.controllers.runtime.informers import Informer
from aio_apiserver.controllers.runtime.resources import DEFINITIONS
from aio_apiserver.registry.base.validation.object_meta import FOREGROUND_DELETION, ORPHAN_DEPENDENTS
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.storage.stored_object import StoredObject

_KEPT = ("name", "namespace", "uid", "resourceVersion", "ownerReferences", "finalizers", "deletionTimestamp")
_IGNORED = {("", "events"), ("events.k8s.io", "events")}
_SETTLING_SECONDS = 1.0
"""A definition may arrive here before the server starts or stops to serve its resource."""
_RESOURCES = "resources"
"""The queue key for a look at the served resources. No uid has this value."""


def _metadata_of(stored: StoredObject) -> Object:
    metadata = stored.decode()["metadata"]
    return {"metadata": {name: metadata[name] for name in _KEPT if name in metadata}}


class GarbageCollector(Controller):
    """Follows every resource that can be deleted."""

    name = "garbage-collector-controller"
    account = "generic-garbage-collector"
    qps_factor = 2
    workers = 20
    longest_retry_pause = 30.0
    longest_start = 30.0

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._graph = Graph()
        self._informers: dict[tuple[str, str], tuple[Informer, asyncio.Task[None]]] = {}
        """The informers by group and plural."""

    def begin(self) -> None:
        definitions = self.follow(DEFINITIONS)
        definitions.listen(lambda _key, _before, _after: self._look_at_resources())
        self._follow_new()

    def _look_at_resources(self) -> None:
        self.queue.add(_RESOURCES)
        self.queue.recheck_after(_RESOURCES, _SETTLING_SECONDS)

    def _follow_new(self) -> list[Informer]:
        """Follow the resources that are served now, and stop following the others."""
        served = {(place.group, place.path): place for place in self.client.resources("delete", "list", "watch")}
        for gone in self._informers.keys() - served.keys():
            informer, task = self._informers.pop(gone)
            task.cancel()
            self._followed.remove(informer)
            self._forget(informer)
        new = [place for name, place in served.items() if name not in self._informers and name not in _IGNORED]
        return [self._follow_one(place) for place in new]

    def _follow_one(self, place: ResourcePath) -> Informer:
        informer = Informer(self.client.served, place, _metadata_of)
        of_nodes = GraphPlace(place, self.client.at(place).kind.kind)

        def changed(key: str, before: Object | None, after: Object | None) -> None:
            if before is not None and (after is None or after["metadata"]["uid"] != before["metadata"]["uid"]):
                self._look_at(self._graph.remove(before["metadata"]["uid"]))
            if after is not None:
                self._look_at(self._graph.put(ownership.node_of(after, of_nodes, key)))

        informer.listen(changed)
        self._followed.append(informer)
        self._informers[place.group, place.path] = informer, self.desk.informers.follow(informer)
        return informer

    def _forget(self, informer: Informer) -> None:
        for obj in informer.items.values():
            self._look_at(self._graph.remove(obj["metadata"]["uid"]))

    def _look_at(self, uids: set[str]) -> None:
        for uid in uids:
            self.queue.add(uid)

    async def reconcile(self, key: str) -> float | None:
        if key == _RESOURCES:
            self._follow_new()
            return None
        node = self._graph.nodes.get(key)
        if node is None:
            return None
        if node.orphans_dependents:
            await self._orphan(node)
        elif node.waits_for_dependents:
            await self._wait_for_dependents(node)
        elif node.owners and not node.is_ending and not all(self._is_there(node, one) for one in node.owners):
            await self._judge(node)
        return None

    def _is_there(self, node: ObjectNode, reference: Reference) -> bool:
        """Whether an owner was seen exactly as the reference names it, and does not wait for dependents. Its later
        change brings the object back into the queue.
        """
        owner = self._graph.nodes.get(reference["uid"])
        if owner is None or owner.waits_for_dependents:
            return False
        namespace, _ = split(node.key)
        owner_namespace, name = split(owner.key)
        group, _, _ = str(reference["apiVersion"]).rpartition("/")
        is_same_kind = (owner.place.path.group, owner.place.kind) == (group, reference["kind"])
        return is_same_kind and name == reference["name"] and owner_namespace in ("", namespace)

    async def _orphan(self, node: ObjectNode) -> None:
        for dependent in self._graph.dependents_of(node.uid):
            await self._change(dependent, lambda obj: ownership.drop_owners(obj, frozenset((node.uid,))))
        await self._change(node, lambda obj: ownership.drop_finalizer(obj, ORPHAN_DEPENDENTS))

    async def _wait_for_dependents(self, node: ObjectNode) -> None:
        blocking = [one for one in self._graph.dependents_of(node.uid) if one.blocks(node.uid)]
        if not blocking:
            await self._change(node, lambda obj: ownership.drop_finalizer(obj, FOREGROUND_DELETION))
        for dependent in self._graph.dependents_of(node.uid):
            if not dependent.waits_for_dependents:
                self.queue.add(dependent.uid)

    async def _judge(self, node: ObjectNode) -> None:
        present = await self._get(node)
        if present is None:
            return
        latest = ownership.node_of(present, node.place, node.key)
        if not latest.owners or latest.is_ending:
            return
        fates = {one["uid"]: await self._fate(latest, one) for one in latest.owners}
        verdict = ownership.judge(fates, latest, self._graph.dependents_of(node.uid))
        if verdict.drop:
            await self._change(node, lambda obj: ownership.drop_owners(obj, verdict.drop))
        if verdict.unblock:
            changed = await self._change(node, ownership.unblock_owners)
            present = changed or present
        if verdict.delete:
            await self.client.delete(node.place.path, present, policy=verdict.delete, is_unchanged=True)

    async def _fate(self, node: ObjectNode, reference: Reference) -> Fate:
        """The fate of an owner reference. Raises NotYet for an owner whose kind is not served."""
        group, _, _ = str(reference["apiVersion"]).rpartition("/")
        place = self._place_of(group, reference["kind"])
        namespace, _ = split(node.key)
        is_namespaced = self.client.at(place).kind.is_namespaced
        if is_namespaced and not namespace:
            return Fate.THERE  # a cluster-scoped object cannot have a namespaced owner: keep it
        owner = await self.client.get(place, f"{namespace}/{reference['name']}" if is_namespaced else reference["name"])
        if owner is None or owner["metadata"]["uid"] != reference["uid"]:
            return Fate.GONE
        return Fate.WAITING if ownership.node_of(owner, node.place, "").waits_for_dependents else Fate.THERE

    def _place_of(self, group: str, kind: str) -> ResourcePath:
        for place in self.client.resources("get"):
            if place.group == group and self.client.at(place).kind.kind == kind:
                return place
        raise NotYet

    async def _get(self, node: ObjectNode) -> Object | None:
        try:
            present = await self.client.get(node.place.path, node.key)
        except NotServed:
            return None
        return present if present is not None and present["metadata"]["uid"] == node.uid else None

    async def _change(self, node: ObjectNode, change: ownership.Change) -> Object | None:
        namespace, name = split(node.key)
        target: Object = {"metadata": {"name": name, "namespace": namespace, "uid": node.uid}}
        return await self.client.change(node.place.path, target, change)
