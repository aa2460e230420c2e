"""Volume protection: removes the finalizers of deleted claims without pods, and of deleted volumes without a claim."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.garbage_collection import ownership
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, Desk, if_same
from aio_apiserver.controllers.runtime.pods import is_ending
from aio_apiserver.controllers.runtime.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from aio_apiserver.controllers.volumes import pod_volumes
from aio_apiserver.registry.generic.in_process_client import ResourcePath

_OF_CLAIMS = "kubernetes.io/pvc-protection"
_OF_VOLUMES = "kubernetes.io/pv-protection"


class _Protection(Controller):
    """The common part: the finalizer is there until the object is deleted and not in use."""

    place: ResourcePath
    finalizer = ""

    def begin(self) -> None:
        self._protected = self.follow(self.place, self._if_wrong)

    def _if_wrong(self, obj: Object) -> str:
        """The key of an object that lacks the finalizer, or may lose it."""
        has_finalizer = self.finalizer in (obj["metadata"].get("finalizers") or ())
        return key_of(obj) if has_finalizer == is_ending(obj) else ""

    async def is_used(self, key: str, obj: Object) -> bool:
        raise NotImplementedError

    async def reconcile(self, key: str) -> float | None:
        obj = self._protected.get(key)
        if obj is None or not self._if_wrong(obj):
            return None
        if not is_ending(obj):
            await self.client.change(self.place, obj, self._protect)
        elif not await self.is_used(key, obj):
            drop = if_same(obj, lambda present: ownership.drop_finalizer(present, self.finalizer))
            await self.client.change(self.place, obj, drop)
        return None

    def _protect(self, obj: Object) -> bool:
        present = obj["metadata"].get("finalizers") or []
        if is_ending(obj) or self.finalizer in present:
            return False
        obj["metadata"]["finalizers"] = [*present, self.finalizer]
        return True


class ClaimProtection(_Protection):
    """Keeps a PersistentVolumeClaim while a pod on a node uses it."""

    name = "persistentvolumeclaim-protection-controller"
    account = "pvc-protection-controller"
    place = PERSISTENT_VOLUME_CLAIMS
    finalizer = _OF_CLAIMS

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._users: dict[str, set[str]] = {}
        """The keys of the pods of each claim."""

    def begin(self) -> None:
        super().begin()
        self._pods = self.follow(PODS)
        self._pods.listen(self._pod_changed)

    def _pod_changed(self, key: str, before: Object | None, after: Object | None) -> None:
        was, now = _claim_keys(before), _claim_keys(after)
        for claim in was - now:
            self._users[claim].discard(key)
            if not self._users[claim]:
                del self._users[claim]
        for claim in now:
            self._users.setdefault(claim, set()).add(key)
        for claim in was | now:
            present = self._protected.get(claim)
            if present is not None and is_ending(present):
                self.queue.add(claim)

    async def is_used(self, key: str, obj: Object) -> bool:
        pods = (self._pods.get(pod) for pod in self._users.get(key, ()))
        if any(pod is not None and pod_volumes.protects(pod, obj) for pod in pods):
            return True
        newest = await self.client.list(PODS, obj["metadata"]["namespace"])
        return any(pod_volumes.protects(pod, obj) for pod in newest)


def _claim_keys(pod: Object | None) -> set[str]:
    if pod is None:
        return set()
    return {f"{pod['metadata']['namespace']}/{name}" for name, _ in pod_volumes.claims_of(pod)}


class VolumeProtection(_Protection):
    """Keeps a PersistentVolume while it is bound."""

    name = "persistentvolume-protection-controller"
    account = "pv-protection-controller"
    place = PERSISTENT_VOLUMES
    finalizer = _OF_VOLUMES

    async def is_used(self, key: str, obj: Object) -> bool:
        return bool((obj.get("status") or {}).get("phase") == "Bound")
