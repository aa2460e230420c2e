"""Device allocation: the part of the scheduler that allocates devices to the resource claims of pods.

Must hold: a device that is being allocated counts as used until its claim shows it.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import ControllerClient, key_of
from aio_apiserver.controllers.runtime.informers import Informer
from aio_apiserver.controllers.runtime.resources import DEVICE_CLASSES, RESOURCE_CLAIMS, RESOURCE_SLICES
from aio_apiserver.controllers.volumes.pod_claims import (
    FINALIZER,
    claim_names,
    is_reserved_for,
    is_shared_by_too_many,
)
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.groups.resource.resourceclaims import RESOURCECLAIMS
from aio_apiserver.simulation.scheduling import claim_allocation
from aio_apiserver.simulation.scheduling.claim_allocation import Allocator
from aio_apiserver.simulation.scheduling.devices import DeviceKey, DeviceView, devices_of

_NOT_HERE = "resourceclaim not available on the node"
_NO_DEVICES = "cannot allocate all claims"
Follow = Callable[[ResourcePath], Informer]


class PodDevices(Struct):
    """The claims of a pod. `problem`: why no node fits."""

    problem: str = ""
    claims: list[Object] = field(default_factory=list)

    @property
    def open(self) -> list[Object]:
        """The claims without devices."""
        return [one for one in self.claims if not (one.get("status") or {}).get("allocation")]


class DeviceAllocation:
    """The claims of one scheduler. `changed` is called when waiting pods may fit."""

    def __init__(self, follow: Follow, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._devices: Sequence[DeviceView] | None = None
        self._used: dict[str, list[DeviceKey]] = {}
        """The devices of each claim by key."""
        self._assumed: dict[str, list[DeviceKey]] = {}
        self._claims = follow(RESOURCE_CLAIMS)
        self._claims.listen(self._claim_changed)
        self._slices = follow(RESOURCE_SLICES)
        self._slices.listen(self._slice_changed)
        self._classes = follow(DEVICE_CLASSES)
        self._classes.listen(lambda _key, _before, _after: changed())

    def _claim_changed(self, key: str, _before: Object | None, after: Object | None) -> None:
        devices = claim_allocation.allocated(after) if after is not None else []
        if devices:
            self._used[key] = devices
            self._assumed.pop(key, None)
        else:
            self._used.pop(key, None)
        self._changed()

    def _slice_changed(self, _key: str, _before: Object | None, _after: Object | None) -> None:
        self._devices = None
        self._changed()

    def of(self, pod: Object) -> PodDevices:
        """The claims of a pod."""
        found = PodDevices()
        for name in claim_names(pod):
            claim = self._claims.get(f"{pod['metadata']['namespace']}/{name.name}") if name.name else None
            found.problem = found.problem or self._problem(pod, claim, name.name, name.problem)
            found.claims += [claim] if claim is not None else []
        return found

    def _problem(self, pod: Object, claim: Object | None, name: str, problem: str) -> str:
        if problem:
            return problem
        if claim is None:
            return f'resourceclaim "{name}" not found'
        if claim["metadata"].get("deletionTimestamp"):
            return f'resourceclaim "{name}" is being deleted'
        if key_of(claim) in self._assumed:
            return f"resource claim {key_of(claim)} is in the process of being allocated"
        if not is_reserved_for(claim, pod) and is_shared_by_too_many(claim):
            return "resourceclaim in use"
        return claim_allocation.missing_class(claim, self._classes.get)

    def keeps_away(self, found: PodDevices) -> Callable[[Object], str]:
        """The function that names the reason why claims exclude a node."""

        def reason(node: Object) -> str:
            open_ = found.open
            given = [one for one in found.claims if one not in open_]
            if any(not claim_allocation.is_available(one, node) for one in given):
                return _NOT_HERE
            return "" if not open_ or self.allocate(found, node) is not None else _NO_DEVICES

        return reason

    def allocate(self, found: PodDevices, node: Object) -> list[Object] | None:
        """Allocations for the open claims of a pod on a node; None when there are none."""
        if self._devices is None:
            self._devices = devices_of(self._slices.items.values())
        used = {one for kept in (self._used, self._assumed) for devices in kept.values() for one in devices}
        return Allocator(node, self._devices, used, self._classes.get).allocate(found.open)

    def assume(self, found: PodDevices, allocations: Sequence[Object]) -> None:
        """Count devices as used from now on."""
        for claim, allocation in zip(found.open, allocations, strict=True):
            self._assumed[key_of(claim)] = claim_allocation.allocated({"status": {"allocation": allocation}})

    async def write(
        self, client: ControllerClient, found: PodDevices, allocations: Sequence[Object], pod: Object
    ) -> None:
        """Write the allocations and reserve the claims for a pod. Raises StatusError."""
        given = {key_of(claim): one for claim, one in zip(found.open, allocations, strict=True)}
        try:
            for claim in found.claims:
                await _reserve(client, claim, given.get(key_of(claim)), pod)
        except BaseException:
            for key in given:
                self._assumed.pop(key, None)
            raise


async def _reserve(client: ControllerClient, claim: Object, allocation: Object | None, pod: Object) -> None:
    """Reserve a claim for a pod, and give it its devices. Raises StatusError."""
    metadata = pod["metadata"]
    consumer = {"resource": "pods", "name": metadata["name"], "uid": metadata["uid"]}

    def protect(present: Object) -> bool:
        finalizers = present["metadata"].get("finalizers") or []
        present["metadata"]["finalizers"] = [*finalizers, *({FINALIZER} - set(finalizers))]
        return FINALIZER not in finalizers

    def edit(present: Object) -> bool:
        status = dict(present.get("status") or {})
        if allocation is not None and not status.get("allocation"):
            status["allocation"] = allocation
        if not is_reserved_for(present, pod):
            status["reservedFor"] = [*(status.get("reservedFor") or ()), consumer]
        is_new = status != (present.get("status") or {})
        present["status"] = status
        return is_new

    if allocation is not None:
        await client.change(RESOURCE_CLAIMS, claim, protect)
    if await client.change(RESOURCE_CLAIMS.part("status"), claim, edit) is None:
        raise errors.NotFound(RESOURCECLAIMS.resource, claim["metadata"]["name"])
