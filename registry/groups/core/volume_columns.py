"""Volumes, claims on them, the classes that they come from and the drivers that bring them."""

from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Cell, Column, count, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE, UNSET
from aio_apiserver.storage.stored_object import Object

_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_ANNOTATIONS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _modes_text(modes: Any) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _phase(obj: Object, _now: float) -> str:
    return "Terminating" if obj["metadata"].get("deletionTimestamp") else objects.get(obj, "status.phase", "")


def _class(obj: Object, _now: float) -> str:
    annotations = obj["metadata"].get("annotations") or {}
    return str(annotations.get(_CLASS_ANNOTATION, objects.get(obj, "spec.storageClassName", "")))


def _claim(volume: Object, _now: float) -> str:
    claim = objects.get(volume, "spec.claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim is not None else ""


_VOLUME = "core.v1.PersistentVolumeSpec"
PERSISTENT_VOLUMES = table_of(
    NAME,
    (Column(name="Capacity", field=f"{_VOLUME}.capacity"), value("spec.capacity.storage", "0")),
    (
        Column(name="Access Modes", field=f"{_VOLUME}.accessModes"),
        lambda obj, _now: _modes_text(objects.get(obj, "spec.accessModes", ())),
    ),
    (
        Column(name="Reclaim Policy", field=f"{_VOLUME}.persistentVolumeReclaimPolicy"),
        value("spec.persistentVolumeReclaimPolicy"),
    ),
    (Column(name="Status", field="core.v1.PersistentVolumeStatus.phase"), _phase),
    (Column(name="Claim", field=f"{_VOLUME}.claimRef"), _claim),
    (Column(name="StorageClass", text="StorageClass of the pv"), _class),
    (
        Column(name="VolumeAttributesClass", text="VolumeAttributesClass of the pv"),
        value("spec.volumeAttributesClassName", UNSET),
    ),
    (Column(name="Reason", field="core.v1.PersistentVolumeStatus.reason"), value("status.reason")),
    AGE,
    (Column(name="VolumeMode", field=f"{_VOLUME}.volumeMode", priority=1), value("spec.volumeMode", UNSET)),
)


def _of_volume(cell: Cell) -> Cell:
    """What a claim shows only when it has its volume."""
    return lambda claim, now: cell(claim, now) if objects.get(claim, "spec.volumeName") else ""


_CLAIM = "core.v1.PersistentVolumeClaimStatus"
PERSISTENT_VOLUME_CLAIMS = table_of(
    NAME,
    (Column(name="Status", field=f"{_CLAIM}.phase"), _phase),
    (Column(name="Volume", field="core.v1.PersistentVolumeClaimSpec.volumeName"), value("spec.volumeName")),
    (Column(name="Capacity", field=f"{_CLAIM}.capacity"), _of_volume(value("status.capacity.storage", "0"))),
    (
        Column(name="Access Modes", field=f"{_CLAIM}.accessModes"),
        _of_volume(lambda obj, _now: _modes_text(objects.get(obj, "status.accessModes", ()))),
    ),
    (Column(name="StorageClass", text="StorageClass of the pvc"), _class),
    (
        Column(name="VolumeAttributesClass", text="VolumeAttributesClass of the pvc"),
        value("spec.volumeAttributesClassName", UNSET),
    ),
    AGE,
    (
        Column(name="VolumeMode", field="core.v1.PersistentVolumeClaimSpec.volumeMode", priority=1),
        value("spec.volumeMode", UNSET),
    ),
)
STORAGE_CLASSES = table_of(
    (NAME[0], formats.marked_name(*_DEFAULT_ANNOTATIONS)),
    (Column(name="Provisioner", field="storage.v1.StorageClass.provisioner"), value("provisioner")),
    (Column(name="ReclaimPolicy", field="storage.v1.StorageClass.reclaimPolicy"), value("reclaimPolicy", "Delete")),
    (
        Column(name="VolumeBindingMode", field="storage.v1.StorageClass.volumeBindingMode"),
        value("volumeBindingMode", "Immediate"),
    ),
    (
        Column(name="AllowVolumeExpansion", field="storage.v1.StorageClass.allowVolumeExpansion"),
        value("allowVolumeExpansion", False),
    ),
    AGE,
)
VOLUME_ATTRIBUTES_CLASSES = table_of(
    NAME, (Column(name="DriverName", field="storage.v1.VolumeAttributesClass.driverName"), value("driverName")), AGE
)
VOLUME_ATTACHMENTS = table_of(
    NAME,
    (Column(name="Attacher", format="name", field="storage.v1.VolumeAttachmentSpec.attacher"), value("spec.attacher")),
    (
        Column(name="PV", field="storage.v1.VolumeAttachmentSource.persistentVolumeName"),
        value("spec.source.persistentVolumeName"),
    ),
    (Column(name="Node", field="storage.v1.VolumeAttachmentSpec.nodeName"), value("spec.nodeName")),
    (
        Column(name="Attached", type="boolean", field="storage.v1.VolumeAttachmentStatus.attached"),
        value("status.attached", False),
    ),
    AGE,
)
CSI_NODES = table_of(
    NAME,
    (
        Column(
            name="Drivers",
            type="integer",
            text="Drivers indicates the number of CSI drivers registered on the node",
        ),
        count("spec.drivers"),
    ),
    AGE,
)


def _audiences(driver: Object, _now: float) -> str:
    requests = objects.get(driver, "spec.tokenRequests")
    return UNSET if requests is None else ",".join(one.get("audience", "") for one in requests)


def _flag(name: str, field: str, default: bool = False) -> tuple[Column, Cell]:
    column = Column(name=name, type="boolean", field=f"storage.v1.CSIDriverSpec.{field}")
    return column, value(f"spec.{field}", default)


CSI_DRIVERS = table_of(
    NAME,
    _flag("AttachRequired", "attachRequired", default=True),
    _flag("PodInfoOnMount", "podInfoOnMount"),
    _flag("StorageCapacity", "storageCapacity"),
    (Column(name="TokenRequests", field="storage.v1.CSIDriverSpec.tokenRequests"), _audiences),
    _flag("RequiresRepublish", "requiresRepublish"),
    (
        Column(name="Modes", field="storage.v1.CSIDriverSpec.volumeLifecycleModes"),
        lambda obj, _now: ",".join(objects.get(obj, "spec.volumeLifecycleModes", ())) or NONE,
    ),
    AGE,
)
