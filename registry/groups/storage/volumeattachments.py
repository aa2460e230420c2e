"""VolumeAttachments: record that a volume should be attached to a node, and whether it is."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.validation import field, internal, names, object_meta
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.generic import common_history
from aio_apiserver.registry.generic.error_history import showing, since, twice, unchanged, until, worded
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods.validation import volume_sources
from aio_apiserver.registry.machinery.patch.apply.resets import WITH_METADATA
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.core.volumes import volume_specs
else:
    volume_specs = Deferred("aio_apiserver.registry.groups.core.volumes.volume_specs")

_MAX_METADATA_BYTES = 256 * 1024
_MAX_MESSAGE_BYTES = 1024
_ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


class VolumeAttachmentStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of attachments. The spec is immutable."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate(obj)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate_again(context, new)
        before, after = (internal.form("storage.VolumeAttachmentSpec", one.get("spec") or {}) for one in (old, new))
        if _without_empties(before) != _without_empties(after):
            errors.append(field.invalid("spec", after, object_meta.IMMUTABLE))
        return errors


class VolumeAttachmentStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status that the CSI attacher reports."""

    allows_unconditional_update: bool = False
    keeps_metadata: bool = True

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return self.validate_again(context, new)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate(obj)


def _without_empties(form: Any) -> Any:
    """The internal form without empty lists and maps, so that they make no difference."""
    if isinstance(form, dict):
        return {name: _without_empties(value) for name, value in form.items()} or None
    return (form or None) if isinstance(form, list) else form


def _source(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    source: Mapping[str, Any] = spec.get("source") or {}
    return source


def _validate(obj: Object) -> list[FieldError]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    errors = volume_sources.validate_csi_driver(spec.get("attacher", ""), "spec.attacher")
    errors += _validate_source(_source(spec), "spec.source")
    node, volume = spec.get("nodeName", ""), _source(spec).get("persistentVolumeName")
    errors += field.invalid_each("spec.nodeName", node, names.is_dns_subdomain(node, False))
    metadata = status.get("attachmentMetadata") or {}
    if sum(len(key.encode()) + len((value or "").encode()) for key, value in metadata.items()) > _MAX_METADATA_BYTES:
        errors.append(field.too_long("status.attachmentMetadata", _MAX_METADATA_BYTES))
    for name in ("attachError", "detachError"):
        errors += _validate_failure(status.get(name) or {}, f"status.{name}")
    if volume is not None:
        messages = names.is_dns_subdomain(volume, False)
        errors += field.invalid_each("spec.source.persistentVolumeName", volume, messages)
    return errors


def _validate_source(source: Mapping[str, Any], path: str) -> list[FieldError]:
    inline, volume = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    if inline is None and volume is None:
        return [field.required(path, _ONE_SOURCE)]
    if inline is not None and volume is not None:
        return [field.forbidden(path, _ONE_SOURCE)]
    if inline is not None:
        return volume_specs.validate_inline(inline, f"{path}.inlineVolumeSpec")
    detail = "must specify non empty persistentVolumeName"
    return [] if volume else [field.required(f"{path}.persistentVolumeName", detail)]


def _validate_failure(failure: Mapping[str, Any], path: str) -> list[FieldError]:
    errors = []
    if len(failure.get("message", "").encode()) > _MAX_MESSAGE_BYTES:
        errors.append(field.too_long(f"{path}.message", _MAX_METADATA_BYTES))
    code = failure.get("errorCode")
    if code is not None and code < 0:
        errors.append(field.invalid(f"{path}.errorCode", code, f"must be between 0 and {2**31 - 1}, inclusive"))
    return errors


_COLUMNS = table_of(
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

_ERRORS = (
    until((1, 35), r"spec\.attacher", common_history.with_empty_name, type=ErrorType.REQUIRED),
    until((1, 36), r"spec\.attacher", twice, type=ErrorType.REQUIRED),
    since((1, 37), "spec", showing(None), detail=object_meta.IMMUTABLE),
    since((1, 37), r"spec\.attacher", worded(common_history.DRIVER_NAME), detail="a lowercase RFC 1123 subdomain.*"),
    since((1, 37), r"spec\.attacher", unchanged, type=ErrorType.REQUIRED, is_last=True),
)

VOLUMEATTACHMENTS = Kind(
    group="storage.k8s.io",
    plural="volumeattachments",
    kind="VolumeAttachment",
    resets={"status": WITH_METADATA},
    is_namespaced=False,
    strategy=VolumeAttachmentStrategy(has_status=True, allows_unconditional_update=False),
    status_strategy=VolumeAttachmentStatusStrategy(),
    returns_deleted_object=True,
    columns=_COLUMNS,
    errors=_ERRORS,
)
