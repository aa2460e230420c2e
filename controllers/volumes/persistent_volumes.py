"""Persistent volumes: binds PersistentVolumeClaims to PersistentVolumes, and releases the volumes of deleted claims.

Volumes are made and deleted by provisioners: those outside of the server, or the simulated one. Must hold: one worker
binds, so that no volume is promised twice.
"""

from collections.abc import Callable

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from aio_apiserver.controllers.volumes import pod_volumes
from aio_apiserver.controllers.volumes import volume_matching as volumes
from aio_apiserver.controllers.volumes.volume_index import VolumeIndex
from aio_apiserver.registry.groups.core.volumes.volume_classes import class_of
from aio_apiserver.registry.groups.storage.storageclasses import ClassRank, default_of

_LOST_REFERENCE = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
_LOST_VOLUME = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
_MISBOUND = "Two claims are bound to the same volume, this one is bound incorrectly"
_NO_CLASS = "no persistent volumes available for this claim and no storage class is set"
_EXTERNAL = (
    "Waiting for a volume to be created either by the external provisioner '{}' or manually by the system "
    "administrator. If volume creation is delayed, please verify that the provisioner is running and correctly "
    "registered."
)
_NO_PROVISIONER = "no volume plugin matched name: kubernetes.io/no-provisioner"
_KEPT_PHASES = ("Released", "Failed")


class PersistentVolumeBinder(Controller):
    """Binds and releases. A queue key with a namespace is that of a claim, another one that of a volume."""

    name = "persistentvolume-binder-controller"
    account = "persistent-volume-binder"
    component = "persistentvolume-controller"
    workers = 1

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._index = VolumeIndex()

    def begin(self) -> None:
        self._volumes = self.follow(PERSISTENT_VOLUMES, key_of)
        self._volumes.listen(self._volume_changed)
        self._claims = self.follow(PERSISTENT_VOLUME_CLAIMS, key_of)
        self._claims.listen(self._claim_changed)
        self._classes = self.follow(STORAGE_CLASSES)
        self._classes.listen(lambda name, _before, _after: self._look_again(name, ""))
        self._pods = self.follow(PODS)

    def _volume_changed(self, key: str, before: Object | None, after: Object | None) -> None:
        self._index.change(key, before, after)
        for volume in filter(None, (before, after)):
            if claim := volumes.claim_key(volume):
                self.queue.add(claim)
            else:
                self._look_again(class_of(volume))

    def _claim_changed(self, key: str, before: Object | None, after: Object | None) -> None:
        if after is None:
            assert before is not None
            self._index.forget(key, class_of(before))
        for volume in self._index.reserved_for(key):
            self.queue.add(key_of(volume))

    def _look_again(self, *storage_classes: str) -> None:
        """Queue the claims that wait for volumes of these classes."""
        for storage_class in storage_classes:
            for claim in self._index.waiting(storage_class):
                self.queue.add(claim)

    async def reconcile(self, key: str) -> float | None:
        if "/" not in key:
            volume = self._volumes.get(key)
            if volume is not None:
                await self._sync_volume(volume)
            return None
        claim = self._claims.get(key)
        if claim is None:
            return None
        if volumes.BIND_COMPLETED in volumes.annotations_of(claim):
            await self._sync_bound(claim)
        elif claim["spec"].get("volumeName"):
            await self._sync_chosen(claim)
        else:
            await self._find(claim)
        return None

    async def _find(self, claim: Object) -> None:
        """Find a volume for a claim that names none."""
        class_ = self._classes.get(class_of(claim))
        is_delayed = volumes.waits_for_consumer(class_)
        found = self._index.reserved_for(key_of(claim)) if is_delayed else self._index.candidates(claim)
        volume = volumes.best(claim, found)
        if volume is not None:
            await self._bind(claim, volume)
            return
        self._index.wait(key_of(claim), class_of(claim))
        if await self._has_got_default(claim):
            return
        if is_delayed and volumes.SELECTED_NODE not in volumes.annotations_of(claim):
            self._say(claim, *self._waits_for(claim))
        elif class_of(claim):
            await self._provision(claim, class_)
        else:
            self._say(claim, "FailedBinding", _NO_CLASS)
        await self._report(claim, lambda present: volumes.unbound_status(present, "Pending"))

    async def _has_got_default(self, claim: Object) -> bool:
        """Give a claim without a class the default class. Returns whether there was one to give."""
        ranks = map(ClassRank.of, self._classes.items.values()) if volumes.has_no_class(claim) else ()
        name = default_of(ranks)
        if not name:
            return False

        def choose(present: Object) -> None:
            present["spec"]["storageClassName"] = name

        await self.client.change(PERSISTENT_VOLUME_CLAIMS, claim, choose)
        return True

    def _waits_for(self, claim: Object) -> tuple[str, str]:
        """The reason and the message of a claim that waits for its first pod."""
        metadata = claim["metadata"]
        pods = sorted(
            pod["metadata"]["name"]
            for pod in self._pods.in_namespace(metadata["namespace"])
            if not pod["spec"].get("nodeName") and metadata["name"] in dict(pod_volumes.claims_of(pod))
        )
        if not pods:
            return "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
        noun = "pod" if len(pods) == 1 else "pods"
        return "WaitForPodScheduled", f"waiting for {noun} {','.join(pods)} to be scheduled"

    async def _provision(self, claim: Object, class_: Object | None) -> None:
        if class_ is None:
            text = f'storageclass.storage.k8s.io "{class_of(claim)}" not found'
            self._say(claim, "ProvisioningFailed", text, is_warning=True)
            return
        provisioner = class_["provisioner"]
        if provisioner == volumes.NO_PROVISIONER:
            self._say(claim, "ProvisioningFailed", _NO_PROVISIONER, is_warning=True)
            return
        changed = volumes.STORAGE_PROVISIONER not in volumes.annotations_of(claim)
        await self.client.change(
            PERSISTENT_VOLUME_CLAIMS, claim, lambda present: volumes.select_provisioner(present, provisioner)
        )
        if changed:
            self._say(claim, "ExternalProvisioning", _EXTERNAL.format(provisioner))

    async def _sync_chosen(self, claim: Object) -> None:
        """Bind a claim to the volume that it names."""
        name = claim["spec"]["volumeName"]
        volume = self._volumes.get(name)
        if volume is None:
            self._index.wait(key_of(claim), class_of(claim))
        elif volumes.is_reserved_for(volume, claim):
            await self._bind(claim, volume)
            return
        elif volume["spec"].get("claimRef"):
            self._say(claim, "FailedBinding", f'volume "{name}" already bound to a different claim.', is_warning=True)
        elif why := volumes.mismatch(volume, claim):
            text = f'Cannot bind to requested volume "{name}": {why}'
            self._say(claim, "VolumeMismatch", text, is_warning=True)
        else:
            await self._bind(claim, volume)
            return
        await self._report(claim, lambda present: volumes.unbound_status(present, "Pending"))

    async def _sync_bound(self, claim: Object) -> None:
        """Keep a bound claim bound, or report that its volume is lost."""
        name = claim["spec"].get("volumeName")
        volume = self._volumes.get(name) if name else None
        if volume is None:
            await self._lose(claim, "ClaimLost", _LOST_VOLUME if name else _LOST_REFERENCE)
        elif not volume["spec"].get("claimRef") or volume["spec"]["claimRef"].get("uid") == claim["metadata"]["uid"]:
            await self._bind(claim, volume)
        else:
            await self._lose(claim, "ClaimMisbound", _MISBOUND)

    async def _lose(self, claim: Object, reason: str, message: str) -> None:
        self._index.wait(key_of(claim), class_of(claim))
        if (claim.get("status") or {}).get("phase") != "Lost":
            await self._report(claim, lambda present: volumes.unbound_status(present, "Lost"))
            self._say(claim, reason, message, is_warning=True)

    async def _bind(self, claim: Object, volume: Object) -> None:
        self._index.forget(key_of(claim), class_of(claim))
        reserved = await self.client.change(PERSISTENT_VOLUMES, volume, volumes.unless_taken(claim))
        if reserved is None or not volumes.is_reserved_for(reserved, claim):
            self.queue.add(key_of(claim))
            return
        await self._show(reserved, "Bound")
        bound = await self.client.change(
            PERSISTENT_VOLUME_CLAIMS, claim, lambda present: volumes.complete(present, reserved)
        )
        if bound is not None:
            await self._report(bound, lambda present: volumes.bound_status(present, reserved))

    async def _sync_volume(self, volume: Object) -> None:
        """Set the phase of a volume by its claim."""
        reference = volume["spec"].get("claimRef") or {}
        if not reference.get("uid"):
            await self._show(volume, "Available")
            return
        claim = self._claims.get(volumes.claim_key(volume))
        if claim is None or claim["metadata"]["uid"] != reference["uid"]:
            claim = await self.client.get(PERSISTENT_VOLUME_CLAIMS, volumes.claim_key(volume))
        if claim is None or claim["metadata"]["uid"] != reference["uid"]:
            await self._release(volume)
        elif claim["spec"].get("volumeName") == volume["metadata"]["name"]:
            await self._show(volume, "Bound")
        elif not claim["spec"].get("volumeName"):
            self.queue.add(key_of(claim))
        elif volumes.is_dispensable(volume):
            await self._release(volume)
        else:
            await self.client.change(PERSISTENT_VOLUMES, volume, volumes.release)

    async def _release(self, volume: Object) -> None:
        if (volume.get("status") or {}).get("phase") not in _KEPT_PHASES:
            await self._show(volume, "Released")

    async def _show(self, volume: Object, phase: str) -> None:
        def show(present: Object) -> bool:
            status = present.setdefault("status", {})
            is_new = bool(status.get("phase") != phase)
            status["phase"] = phase
            return is_new

        if (volume.get("status") or {}).get("phase") != phase:
            await self.client.change(PERSISTENT_VOLUMES.part("status"), volume, show)

    async def _report(self, claim: Object, status_of: Callable[[Object], Object]) -> None:
        """Write the status of a claim. Other clients' newer changes to other fields of the status stay."""

        def tell(present: Object) -> bool:
            before, present["status"] = present.get("status"), status_of(present)
            return bool(before != present["status"])

        if claim.get("status") != status_of(claim):
            await self.client.change(PERSISTENT_VOLUME_CLAIMS.part("status"), claim, tell)

    def _say(self, claim: Object, reason: str, message: str, *, is_warning: bool = False) -> None:
        about = events.reference(claim, "v1", "PersistentVolumeClaim")
        self.recorder.say(about, reason, message, is_warning=is_warning)
