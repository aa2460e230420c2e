"""volume_columns: the columns of a PersistentVolume and of a PersistentVolumeClaim."""

from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.groups.core.volumes import volume_classes
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Cell, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import UNSET

_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def _modes_text(modes: Any) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _phase(obj: Object, _now: float) -> str:
    return "Terminating" if obj["metadata"].get("deletionTimestamp") else objects.get(obj, "status.phase", "")


def _class(obj: Object, _now: float) -> str:
    return volume_classes.class_of(obj)


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
    """A cell that stays empty until the claim has a volume."""
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
