"""Volume matching: which PersistentVolume fits a PersistentVolumeClaim, and the edits that bind the two.

Pure. Must hold: a volume is bound to one claim. Of the volumes that fit, the claim gets the one with the fewest access
modes, and of those the smallest.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.node_placement import meets_terms
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.quantity import Quantity
from aio_apiserver.registry.base.validation.label_selectors import selects
from aio_apiserver.registry.groups.core.volumes.volume_classes import CLASS_ANNOTATION, class_of

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
_BETA_STORAGE_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
_OF_THE_VOLUME = ("accessModes", "capacity", "currentVolumeAttributesClassName")
"""The fields of a claim's status that come from its volume."""
_YES = "yes"
_OTHER_CLASS = "storageClassName does not match"


def annotations_of(obj: Object) -> Mapping[str, str]:
    annotations: Mapping[str, str] = obj["metadata"].get("annotations") or {}
    return annotations


def claim_key(volume: Object) -> str:
    """The key of the claim that a volume names; empty when it names none."""
    reference = volume["spec"].get("claimRef")
    return f"{reference.get('namespace', '')}/{reference.get('name', '')}" if reference else ""


def is_reserved_for(volume: Object, claim: Object) -> bool:
    """Whether a volume names this claim: by name, and by uid when it has one."""
    reference, metadata = volume["spec"].get("claimRef"), claim["metadata"]
    if not reference or (reference.get("namespace"), reference.get("name")) != (
        metadata["namespace"],
        metadata["name"],
    ):
        return False
    return not reference.get("uid") or bool(reference["uid"] == metadata["uid"])


def waits_for_consumer(class_: Object | None) -> bool:
    """Whether the claims of a StorageClass wait for a pod."""
    return class_ is not None and class_.get("volumeBindingMode") == "WaitForFirstConsumer"


def storage_of(amounts: Mapping[str, Any] | None) -> Quantity:
    return quantity.parse((amounts or {}).get("storage", "0"))


def requested(claim: Object) -> Quantity:
    return storage_of((claim["spec"].get("resources") or {}).get("requests"))


def capacity(volume: Object) -> Quantity:
    return storage_of(volume["spec"].get("capacity"))


def _has_modes(volume: Object, claim: Object) -> bool:
    return set(claim["spec"].get("accessModes") or ()) <= set(volume["spec"].get("accessModes") or ())


def _volume_mode(obj: Object) -> str:
    return obj["spec"].get("volumeMode") or "Filesystem"


def _attributes_class(obj: Object) -> str:
    return obj["spec"].get("volumeAttributesClassName") or ""


def mismatch(volume: Object, claim: Object) -> str:
    """The reason why a claim cannot have the volume that it names; empty when it can."""
    if volume["metadata"].get("deletionTimestamp"):
        return f'the volume is marked for deletion "{volume["metadata"]["name"]}"'
    rules = (
        (capacity(volume).nanos >= requested(claim).nanos, "requested PV is too small"),
        (_attributes_class(volume) == _attributes_class(claim), "volumeAttributesClassName does not match"),
        (_volume_mode(volume) == _volume_mode(claim), "incompatible volumeMode"),
        (_has_modes(volume, claim), "incompatible accessMode"),
        (class_of(volume) == class_of(claim), _OTHER_CLASS),
    )
    return next((text for is_met, text in rules if not is_met), "")


def is_on(volume: Object, node: Object) -> bool:
    """Whether the node affinity of a volume allows a node."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    return required is None or meets_terms(required["nodeSelectorTerms"], node)


def best(claim: Object, volumes: Iterable[Object], *, node: Object | None = None) -> Object | None:
    """The volume for a claim: the one that names it, or else the best free one. `node`: it has to be usable there."""
    fitting = [one for one in volumes if _fits(one, claim) and (node is None or is_on(one, node))]
    reserved = next((one for one in fitting if is_reserved_for(one, claim)), None)
    return reserved or min((one for one in fitting if _is_free_for(one, claim)), key=_rank, default=None)


def _fits(volume: Object, claim: Object) -> bool:
    """Whether a claim may have a volume. A volume that names the claim may be of another storage class."""
    return mismatch(volume, claim) in ("", _OTHER_CLASS)


def _is_free_for(volume: Object, claim: Object) -> bool:
    if class_of(volume) != class_of(claim) or volume["spec"].get("claimRef"):
        return False
    if (volume.get("status") or {}).get("phase") != "Available":
        return False
    selector = claim["spec"].get("selector")
    return selector is None or selects(selector, volume["metadata"].get("labels") or {})


def _rank(volume: Object) -> tuple[int, int, str]:
    return len(volume["spec"].get("accessModes") or ()), capacity(volume).nanos, volume["metadata"]["name"]


def reserve(volume: Object, claim: Object) -> bool:
    """Let a volume name a claim. Returns whether that is new."""
    metadata, was_reserved = claim["metadata"], is_reserved_for(volume, claim)
    if was_reserved and volume["spec"]["claimRef"].get("uid"):
        return False
    volume["spec"]["claimRef"] = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "resourceVersion": metadata["resourceVersion"],
    }
    if not was_reserved:
        _annotate(volume, BOUND_BY_CONTROLLER, _YES)
    return True


def unless_taken(claim: Object) -> Callable[[Object], bool]:
    """The edit that reserves a volume for a claim, unless another claim has it by now."""

    def edit(volume: Object) -> bool:
        if volume["spec"].get("claimRef") and not is_reserved_for(volume, claim):
            return False
        return reserve(volume, claim)

    return edit


def complete(claim: Object, volume: Object) -> bool:
    """Let a claim name its volume. Returns whether that is new."""
    name = volume["metadata"]["name"]
    if claim["spec"].get("volumeName") == name and BIND_COMPLETED in annotations_of(claim):
        return False
    if claim["spec"].get("volumeName") != name:
        claim["spec"]["volumeName"] = name
        _annotate(claim, BOUND_BY_CONTROLLER, _YES)
    _annotate(claim, BIND_COMPLETED, _YES)
    return True


def release(volume: Object) -> bool:
    """Undo a binding: a binding of the controller wholly, one by the user but for the uid."""
    annotations = dict(annotations_of(volume))
    if annotations.pop(BOUND_BY_CONTROLLER, None):
        del volume["spec"]["claimRef"]
        volume["metadata"]["annotations"] = annotations
    else:
        for name in ("uid", "resourceVersion"):
            volume["spec"]["claimRef"].pop(name, None)
    return True


def select_provisioner(claim: Object, provisioner: str) -> bool:
    """Ask a provisioner for the volume of a claim. Returns whether that is new."""
    if annotations_of(claim).get(STORAGE_PROVISIONER) == provisioner:
        return False
    for name in (_BETA_STORAGE_PROVISIONER, STORAGE_PROVISIONER):
        _annotate(claim, name, provisioner)
    return True


def select_node(claim: Object, node: str) -> bool:
    """Let a claim name the node of its first pod. Returns whether that is new."""
    if annotations_of(claim).get(SELECTED_NODE) == node:
        return False
    _annotate(claim, SELECTED_NODE, node)
    return True


def _annotate(obj: Object, name: str, value: str) -> None:
    obj["metadata"]["annotations"] = {**annotations_of(obj), name: value}


def bound_status(claim: Object, volume: Object) -> Object:
    """The status of a claim that is bound to a volume."""
    status = {**(claim.get("status") or {}), "phase": "Bound", "accessModes": volume["spec"].get("accessModes")}
    if not (claim.get("status") or {}).get("capacity"):
        status["capacity"] = {"storage": volume["spec"]["capacity"]["storage"]}
    is_new = (claim.get("status") or {}).get("phase") == "Pending"
    if is_new and volume["spec"].get("volumeAttributesClassName"):
        status["currentVolumeAttributesClassName"] = volume["spec"]["volumeAttributesClassName"]
    return status


def unbound_status(claim: Object, phase: str) -> Object:
    """The status of a claim without a volume."""
    before = claim.get("status") or {}
    return {**{name: before[name] for name in before if name not in _OF_THE_VOLUME}, "phase": phase}


def has_no_class(claim: Object) -> bool:
    """Whether a claim leaves the storage class open. An empty class is a choice, too."""
    return claim["spec"].get("storageClassName") is None and CLASS_ANNOTATION not in annotations_of(claim)


def is_dispensable(volume: Object) -> bool:
    """Whether a volume was made for a claim that has another one now."""
    return PROVISIONED_BY in annotations_of(volume) and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
