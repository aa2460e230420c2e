"""Pod owners: the common part of controllers with pods: claims, creation, deletion and status of dependents.

Must hold: a matching pod without a controller is adopted, and a pod that does not match any more is released. Pods of
other controllers are not touched, and an owner that is being deleted adopts nothing.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.garbage_collection import ownership
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, NotYet
from aio_apiserver.controllers.runtime.informers import Informer
from aio_apiserver.controllers.runtime.resources import PODS
from aio_apiserver.controllers.workloads import adoption as claims
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.validation.label_selectors import selects
from aio_apiserver.registry.generic.in_process_client import ResourcePath

T = TypeVar("T")


class PodOwner(Controller):
    """Controls objects of one kind with a selector."""

    place: ResourcePath
    kind = ""
    dependents = PODS
    """The resource of the dependents."""
    finalizer = ""
    """The finalizer of dependents, which they lose when they are released."""
    most_at_once = 500
    """The most pods that one reconciliation makes or deletes, as in kube-controller-manager."""

    @property
    def api_version(self) -> str:
        return f"{self.place.group}/{self.place.version}" if self.place.group else self.place.version

    def begin(self) -> None:
        self._owners = self.follow(self.place, key_of)
        self._dependents = self.follow(self.dependents, self._owner_key)
        self._dependents.listen(self._orphan_changed)

    def selector(self, owner: Object) -> Mapping[str, Any] | None:
        """The selector of an owner."""
        selector: Mapping[str, Any] | None = owner["spec"].get("selector")
        return selector

    def owner(self, key: str) -> Object | None:
        return self._owners.get(key)

    @property
    def owners(self) -> Informer:
        return self._owners

    def _owner_key(self, obj: Object) -> str:
        reference = podrules.controller_of(obj)
        if reference.get("kind") != self.kind or reference.get("apiVersion") != self.api_version:
            return ""
        return f"{obj['metadata']['namespace']}/{reference['name']}"

    def _orphan_changed(self, _key: str, _before: Object | None, after: Object | None) -> None:
        if after is None or podrules.controller_of(after):
            return
        labels = after["metadata"].get("labels") or {}
        for owner in self._owners.in_namespace(after["metadata"]["namespace"]) if labels else ():
            if selects(self.selector(owner), labels):
                self.queue.add(key_of(owner))

    async def claim(self, owner: Object) -> list[Object]:
        """The dependents of an owner, after adoptions and releases."""
        namespace, uid = owner["metadata"]["namespace"], owner["metadata"]["uid"]
        controlled = list(self._dependents.controlled_by(namespace, uid))
        orphans = list(self._dependents.controlled_by(namespace, ""))
        number = len(controlled) + len(orphans)
        found = await self.work(partial(claims.claims, owner, self.selector(owner), controlled, orphans), number)
        for obj in found.released:
            await self._release(owner, obj)
        mine = found.mine
        for obj in found.adopted:
            adopted = await self._adopt(owner, obj)
            mine += [adopted] if adopted is not None else []
        return mine

    def controlled(self, owner: Object) -> list[Object]:
        """The dependents of an owner, without adoptions and releases."""
        metadata = owner["metadata"]
        return list(self._dependents.controlled_by(metadata["namespace"], metadata["uid"]))

    def reference(self, owner: Object) -> Object:
        return podrules.controller_reference(owner, self.api_version, self.kind)

    async def _adopt(self, owner: Object, obj: Object) -> Object | None:
        newest = await self.client.get(self.place, key_of(owner))
        is_same = newest is not None and newest["metadata"]["uid"] == owner["metadata"]["uid"]
        if newest is None or not is_same or podrules.is_ending(newest):
            raise NotYet  # the informer is behind: an orphan that is adopted now would be deleted with its owner

        def adopt(present: Object) -> bool:
            if podrules.controller_of(present):
                return False
            present["metadata"].setdefault("ownerReferences", []).append(self.reference(owner))
            return True

        changed = await self.client.change(self.dependents, obj, adopt)
        is_mine = changed is not None and podrules.controller_of(changed).get("uid") == owner["metadata"]["uid"]
        return changed if is_mine else None

    async def _release(self, owner: Object, obj: Object) -> None:
        uid = owner["metadata"]["uid"]

        def release(present: Object) -> None:
            owners = present["metadata"].get("ownerReferences") or []
            present["metadata"]["ownerReferences"] = [one for one in owners if one["uid"] != uid]
            ownership.drop_finalizer(present, self.finalizer)

        await self.client.change(self.dependents, obj, release)

    def first(self, owner: Object, wanted: Sequence[T]) -> Sequence[T]:
        """As many items as one reconciliation handles. The owner is queued again for the others."""
        if len(wanted) > self.most_at_once:
            self.queue.add(key_of(owner))
        return wanted[: self.most_at_once]

    async def make(self, owner: Object, pods: Sequence[Object]) -> None:
        """Make pods in slow-start batches: 1, then 2, 4, 8 ... until one fails. Raises StatusError."""
        namespace, done, size = owner["metadata"]["namespace"], 0, 1
        while done < len(pods):
            batch = pods[done : done + size]
            await _all(self._make_one(owner, pod, namespace) for pod in batch)
            done, size = done + size, size * 2

    async def _make_one(self, owner: Object, pod: Object, namespace: str) -> None:
        try:
            made = await self.client.create(PODS, pod, namespace=namespace)
        except StatusError as exc:
            self.say(owner, *self.event_text("create", owner, pod, str(exc)), is_warning=True)
            raise
        self.say(owner, *self.event_text("create", owner, made, ""))

    async def delete(self, owner: Object, pods: Sequence[Object]) -> None:
        """Delete pods of an owner. Raises StatusError."""
        await _all(self._delete_one(owner, pod) for pod in pods)

    async def _delete_one(self, owner: Object, pod: Object) -> None:
        try:
            was_there = await self.client.delete(PODS, pod)
        except StatusError as exc:
            self.say(owner, *self.event_text("delete", owner, pod, str(exc)), is_warning=True)
            raise
        if was_there:
            self.say(owner, *self.event_text("delete", owner, pod, ""))

    def say(self, owner: Object, reason: str, message: str, *, is_warning: bool = False) -> None:
        """Write an event about an owner."""
        about = events.reference(owner, self.api_version, self.kind)
        self.recorder.say(about, reason, message, is_warning=is_warning)

    def event_text(self, verb: str, owner: Object, pod: Object, failure: str) -> tuple[str, str]:
        """The reason and message of an event about a pod that was made or deleted, or could not be."""
        if failure:
            return f"Failed{verb.title()}", f"Error {verb[:-1]}ing: {failure}"
        return f"Successful{verb.title()}", f"{verb.title()}d pod: {pod['metadata']['name']}"

    async def report(self, owner: Object, status: Object) -> None:
        """Write a status if it differs from the present one."""

        def tell(present: Object) -> bool:
            if present.get("status") == status:
                return False
            present["status"] = status
            return True

        if owner.get("status") != status:
            await self.client.change(self.place.part("status"), owner, tell)


async def _all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all concurrently, each to its end. Raises the first exception in the order of the arguments."""
    for outcome in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome
