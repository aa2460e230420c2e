"""Provisioner: makes, grows, recycles and deletes the PersistentVolumes of a simulated cluster.

It takes the part of all provisioners that StorageClasses name. Annotations of a class or of a claim change its work.
Must hold: while Stages drive claims or volumes, it leaves these to them.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from aio_apiserver.registry.base.errors import AlreadyExists
from aio_apiserver.registry.groups.core.volumes.volume_classes import class_of
from aio_apiserver.simulation.nodes import provisioning
from aio_apiserver.simulation.stages.stage import CLAIM, VOLUME
from aio_apiserver.simulation.stages.staged_kinds import StagedKinds

_DEFAULT_CLASS = "default class"
"""The queue key of the StorageClass that a simulated cluster begins with. It has a blank, as no name has."""


class Provisioner(Controller):
    """The provisioner of all classes. A queue key with a namespace is that of a claim."""

    name = "simulated-provisioner"

    def __init__(self, desk: Desk, staged: StagedKinds) -> None:
        super().__init__(desk)
        self._staged = staged
        self._since: dict[str, float] = {}
        """When each claim was first seen, by uid."""

    def begin(self) -> None:
        self.act_as("system:volume-provisioner", manager="external-provisioner")
        self._classes = self.follow(STORAGE_CLASSES)
        self._claims = self.follow(
            PERSISTENT_VOLUME_CLAIMS, lambda claim: key_of(claim) if provisioning.wants_volume(claim) else ""
        )
        self._claims.listen(self._claim_changed)
        self._volumes = self.follow(
            PERSISTENT_VOLUMES, lambda one: key_of(one) if provisioning.is_released(one) else ""
        )
        self._staged.listen(self._add_all)
        self.queue.add(_DEFAULT_CLASS)

    def _add_all(self) -> None:
        """Queue all claims and volumes, since Stages may have left them to this provisioner."""
        for key in (*self._claims.items, *self._volumes.items):
            self.queue.add(key)

    def _claim_changed(self, key: str, before: Object | None, after: Object | None) -> None:
        if after is None:
            assert before is not None
            self._since.pop(before["metadata"]["uid"], None)
        elif provisioning.wants_growth(after):
            self.queue.add(key)

    async def reconcile(self, key: str) -> float | None:
        if key == _DEFAULT_CLASS:
            await self._make_class()
        elif "/" not in key:
            if not self._staged.has(VOLUME):
                await self._reclaim(key)
        elif not self._staged.has(CLAIM):
            return await self._serve(key)
        return None

    async def _serve(self, key: str) -> float | None:
        """Make the volume of a claim, or let it grow."""
        claim = self._claims.get(key)
        class_ = self._classes.get(class_of(claim)) if claim is not None else None
        if claim is not None and provisioning.wants_growth(claim):
            await self._grow(claim)
        elif claim is not None and class_ is not None and provisioning.wants_volume(claim):
            return await self._provision(claim, class_)
        return None

    async def _make_class(self) -> None:
        if not self._classes.items:
            try:
                await self.client.create(STORAGE_CLASSES, provisioning.DEFAULT_CLASS)
            except AlreadyExists:
                return

    async def _provision(self, claim: Object, class_: Object) -> float | None:
        rule = provisioning.rule_of(claim, class_)
        now = self.desk.clock.monotonic()
        left = self._since.setdefault(claim["metadata"]["uid"], now) + rule.delay - now
        if rule.phase == provisioning.NONE or left > 0:
            return left if left > 0 else None
        provisioner = class_["provisioner"]
        if rule.phase == provisioning.FAILED:
            text = (
                f'failed to provision volume with StorageClass "{class_of(claim)}": the simulation has no room for it'
            )
            self._say(claim, provisioner, "ProvisioningFailed", text, is_warning=True)
            return None
        volume = provisioning.volume_for(claim, class_)
        try:
            made = await self.client.create(PERSISTENT_VOLUMES, volume)
        except AlreadyExists:
            return None
        text = f"Successfully provisioned volume {made['metadata']['name']}"
        self._say(claim, provisioner, "ProvisioningSucceeded", text)
        return None

    async def _grow(self, claim: Object) -> None:
        volume = self._volumes.get(claim["spec"]["volumeName"])
        if volume is None:
            return
        await self.client.change(PERSISTENT_VOLUMES, volume, lambda present: provisioning.grow(present, claim))
        await self.client.change(PERSISTENT_VOLUME_CLAIMS.part("status"), claim, provisioning.show_growth)

    async def _reclaim(self, name: str) -> None:
        volume = self._volumes.get(name)
        if volume is None or not provisioning.is_released(volume):
            return
        class_ = self._classes.get(class_of(volume))
        if provisioning.rule_of(volume, class_).phase == provisioning.NONE:
            return
        if volume["spec"]["persistentVolumeReclaimPolicy"] == "Recycle":
            await self.client.change(PERSISTENT_VOLUMES, volume, provisioning.recycle)
        elif not volume["metadata"].get("deletionTimestamp"):
            await self.client.delete(PERSISTENT_VOLUMES, volume)

    def _say(self, claim: Object, host: str, reason: str, message: str, *, is_warning: bool = False) -> None:
        about = events.reference(claim, "v1", "PersistentVolumeClaim")
        self.recorder.say(about, reason, message, is_warning=is_warning, host=host)
