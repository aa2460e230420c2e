"""Provisioning: what a provisioner of simulated volumes does with claims and with released volumes.

Pure. The annotation `phase` of a claim or of its StorageClass is Bound (the default), Pending for a class with another
provisioner, or Failed. The annotation `delay` is the time until the volume is there. Those of the claim win.
"""

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.volumes import volume_matching as volumes
from aio_apiserver.registry.groups.core.volumes.volume_classes import class_of
from aio_apiserver.registry.groups.storage.storageclasses import IS_DEFAULT
from aio_apiserver.simulation.model.annotations import PREFIX, duration

NONE, FAILED = "Pending", "Failed"
PHASES = ("Bound", NONE, FAILED)
DEFAULT_CLASS: Object = {
    "metadata": {"name": "standard", "annotations": {IS_DEFAULT: "true"}},
    "provisioner": "simulate.aio-apiserver/volumes",
    "allowVolumeExpansion": True,
}


class ProvisioningRule(Struct, frozen=True):
    """How a provisioner treats a claim. `delay` is in seconds."""

    phase: str
    delay: float


def rule_of(*objects: Object | None) -> ProvisioningRule:
    """The rule in the annotations of objects, of which the first wins."""
    given: dict[str, str] = {}
    for obj in filter(None, objects):
        given = {**volumes.annotations_of(obj), **given}
    return ProvisioningRule(given.get(f"{PREFIX}phase", "Bound"), duration(given.get(f"{PREFIX}delay", "")))


def wants_volume(claim: Object) -> bool:
    """Whether a claim asks a provisioner for a volume."""
    annotations = volumes.annotations_of(claim)
    is_asked = volumes.STORAGE_PROVISIONER in annotations and not claim["metadata"].get("deletionTimestamp")
    return is_asked and not claim["spec"].get("volumeName")


def volume_for(claim: Object, class_: Object) -> Object:
    """A new volume for a claim."""
    metadata, spec = claim["metadata"], claim["spec"]
    name = f"pvc-{metadata['uid']}"
    volume: Object = {
        "metadata": {"name": name, "annotations": {volumes.PROVISIONED_BY: class_["provisioner"]}},
        "spec": {
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "accessModes": list(spec.get("accessModes") or ()),
            "persistentVolumeReclaimPolicy": class_.get("reclaimPolicy") or "Delete",
            "storageClassName": class_of(claim),
            "volumeMode": spec.get("volumeMode") or "Filesystem",
            "hostPath": {"path": f"/var/lib/simulated/{name}", "type": "DirectoryOrCreate"},
        },
    }
    volumes.reserve(volume, claim)
    del volume["metadata"]["annotations"][volumes.BOUND_BY_CONTROLLER]
    return volume


def is_released(volume: Object) -> bool:
    """Whether a volume has lost its claim, and its policy is not to keep it."""
    policy = volume["spec"].get("persistentVolumeReclaimPolicy")
    return (volume.get("status") or {}).get("phase") == "Released" and policy in ("Delete", "Recycle")


def recycle(volume: Object) -> bool:
    """Make a volume available again."""
    return volume["spec"].pop("claimRef", None) is not None


def wants_growth(claim: Object) -> bool:
    """Whether a bound claim requests more than it has."""
    status = claim.get("status") or {}
    present = (status.get("capacity") or {}).get("storage")
    is_bound = status.get("phase") == "Bound" and present is not None
    return is_bound and volumes.requested(claim).nanos > volumes.storage_of(status["capacity"]).nanos


def grow(volume: Object, claim: Object) -> bool:
    """Give a volume the requested size. Returns whether it was smaller."""
    if volumes.capacity(volume).nanos >= volumes.requested(claim).nanos:
        return False
    volume["spec"]["capacity"] = {**volume["spec"]["capacity"], **claim["spec"]["resources"]["requests"]}
    return True


def show_growth(claim: Object) -> bool:
    """Show the size that a claim has got."""
    claim["status"]["capacity"] = {"storage": claim["spec"]["resources"]["requests"]["storage"]}
    return True
