"""PersistentVolumes: storage in the cluster that is bound to claims."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.validation import differences, field, internal, node_labels, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.core.volumes import volume_columns

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.core.volumes import volume_specs
else:
    volume_specs = Deferred("aio_apiserver.registry.groups.core.volumes.volume_specs")

_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_WITH_MOUNT_OPTIONS = (
    "gcePersistentDisk awsElasticBlockStore glusterfs nfs rbd quobyte iscsi cinder cephfs azureFile vsphereVolume "
    "azureDisk photonPersistentDisk"
).split()
_DEPRECATED_ANNOTATIONS = {
    "volume.beta.kubernetes.io/storage-class": 'deprecated since v1.8; use "storageClassName" attribute instead',
    _MOUNT_OPTIONS: 'deprecated since v1.31; use "mountOptions" attribute instead',
}
_DEPRECATED_SOURCES = (
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
)
_RECYCLED = (
    "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach "
    "is to use dynamic provisioning."
)
_NEWER_LABELS = {
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
"""The deprecated label keys, and the keys that may replace them in a volume's node affinity."""
_SECRET = "controllerExpandSecretRef"  # noqa: S105 - the name of a field


class PersistentVolumeStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of volumes. The volume source is immutable."""

    def default(self, obj: Object) -> None:
        spec, status = obj.setdefault("spec", {}), obj.setdefault("status", {})
        if not status.get("phase"):
            status["phase"] = "Pending"
        if not spec.get("persistentVolumeReclaimPolicy"):
            spec["persistentVolumeReclaimPolicy"] = "Retain"
        if spec.get("volumeMode") is None:
            spec["volumeMode"] = "Filesystem"

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": timestamp(context.now)}

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj) + volume_specs.validate(obj["spec"], obj["metadata"].get("name", ""))
        return errors + _validate_mount_options(obj)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        spec, old_spec, metadata = new["spec"], old["spec"], new["metadata"]
        whole = self.validate_metadata_again(new)
        whole += object_meta.validate_builtin_finalizers(metadata.get("finalizers") or ())
        whole += volume_specs.validate(spec, metadata.get("name", ""), old=old_spec)
        errors = whole + _validate_mount_options(new) + whole + _validate_source(spec, old_spec)
        if spec.get("volumeMode") != old_spec.get("volumeMode"):
            errors.append(field.invalid("volumeMode", spec.get("volumeMode"), object_meta.IMMUTABLE))
        errors += _validate_affinity(spec.get("nodeAffinity"), old_spec.get("nodeAffinity"))
        name = "volumeAttributesClassName"
        if old_spec.get(name) is not None and spec.get(name) is None:
            errors.append(field.forbidden(f"spec.{name}", "update from non-nil value to nil is forbidden"))
        return errors

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        spec, annotations = obj["spec"], obj["metadata"].get("annotations") or {}
        warnings = [
            f"metadata.annotations[{name}]: {text}"
            for name, text in _DEPRECATED_ANNOTATIONS.items()
            if name in annotations
        ]
        if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
            warnings.append(_RECYCLED)
        for index, term in enumerate(objects.get(spec, "nodeAffinity.required.nodeSelectorTerms", ())):
            path = f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]"
            warnings += node_labels.warn_of_expressions(term, path)
        return warnings + [
            f"spec.{path}: {text}" for name, path, text in _DEPRECATED_SOURCES if spec.get(name) is not None
        ]

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, new)


class PersistentVolumeStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status of a volume. The server sets lastPhaseTransitionTime when the client does not."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        status, before = new.setdefault("status", {}), old.get("status") or {}
        since, known = status.get("lastPhaseTransitionTime"), before.get("lastPhaseTransitionTime")
        is_same = status.get("phase") == before.get("phase")
        if is_same and since is None and known is not None:
            status["lastPhaseTransitionTime"] = known
        elif not is_same and since in {None, known}:
            status["lastPhaseTransitionTime"] = timestamp(context.now)


def _validate_mount_options(obj: Object) -> list[FieldError]:
    is_offered = any(obj["spec"].get(name) is not None for name in _WITH_MOUNT_OPTIONS)
    if is_offered or _MOUNT_OPTIONS not in (obj["metadata"].get("annotations") or {}):
        return []
    detail = "may not specify mount options for this volume type"
    return [field.forbidden(f"metadata.annotations.{_MOUNT_OPTIONS}", detail)]


def _validate_source(spec: Mapping[str, Any], old_spec: Mapping[str, Any]) -> list[FieldError]:
    """The error for a changed volume source. An update may add a missing controllerExpandSecretRef."""
    new, old = volume_specs.source_of(spec), volume_specs.source_of(old_spec)
    if "csi" in new and "csi" in old and old["csi"].get(_SECRET) is None:
        new["csi"] = {name: value for name, value in new["csi"].items() if name != _SECRET}
    before, after = (internal.form("core.PersistentVolumeSource", one) for one in (old, new))
    if before == after:
        return []
    difference = differences.unified(before, after)
    detail = f"spec.persistentvolumesource is immutable after creation\n{difference}"
    return [field.forbidden("spec.persistentvolumesource", detail)]


def _validate_affinity(new: Object | None, old: Object | None) -> list[FieldError]:
    if old is None:
        return []
    before, after = (internal.form("core.VolumeNodeAffinity", one) for one in (_with_newer_labels(old, new), new))
    detail = f"{object_meta.IMMUTABLE}, except for updating from beta label to GA"
    return [] if before == after else [field.invalid("nodeAffinity", after, detail)]


def _with_newer_labels(old: Object, new: Object | None) -> Object:
    """A copy of the old affinity in which label keys have their new names, where the new affinity uses them."""
    renamed = objects.clone(old)
    for wanted, term in zip(_terms(new), _terms(renamed), strict=False):
        pairs = zip(wanted.get("matchExpressions") or (), term.get("matchExpressions") or (), strict=False)
        for new_one, old_one in pairs:
            # As in kube-apiserver, a label without a newer name counts as renamed to the empty key.
            newer = _NEWER_LABELS.get(old_one.get("key", ""), "")
            if newer == new_one.get("key", ""):
                old_one["key"] = newer
    return renamed


def _terms(affinity: Object | None) -> list[Any]:
    return list(objects.get(affinity or {}, "required.nodeSelectorTerms", ()))


PERSISTENTVOLUMES = Kind(
    group="",
    plural="persistentvolumes",
    kind="PersistentVolume",
    is_namespaced=False,
    short_names=("pv",),
    strategy=PersistentVolumeStrategy(has_status=True),
    status_strategy=PersistentVolumeStatusStrategy(),
    returns_deleted_object=True,
    columns=volume_columns.PERSISTENT_VOLUMES,
)
