"""PodCertificateRequests: a kubelet asks a signer for the certificate of a pod."""

from typing import TYPE_CHECKING, Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.fields import text
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.machinery.patch.apply.resets import WITH_METADATA
from aio_apiserver.registry.machinery.printing.columns import NAME, Cell, Column, table_of, value

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.certificates import pod_request_validation
else:
    pod_request_validation = Deferred("aio_apiserver.registry.groups.certificates.pod_request_validation")

_STATES = ("Issued", "Denied", "Failed")
_SPEC = "certificates.v1.PodCertificateRequestSpec"


class PodCertificateRequestStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of requests, whose spec is immutable."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + pod_request_validation.validate(obj.get("spec") or {})

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        if new.get("spec") != old.get("spec"):
            errors.append(field.invalid("spec", None, object_meta.IMMUTABLE))
        return errors


class PodCertificateRequestStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status of requests, which is final when the request is issued, denied or failed."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        return errors or pod_request_validation.validate_status(new.get("status") or {}, old.get("status") or {})


def _state(request: Object, _now: float) -> str:
    found = [one["type"] for one in objects.get(request, "status.conditions") or () if one.get("type") in _STATES]
    return str(found[-1]) if found else "Pending"


def _annotations(request: Object, _now: float) -> str:
    given = objects.get(request, "spec.unverifiedUserAnnotations") or {}
    return ",".join(f"{key}={one}" for key, one in sorted(given.items())) or "<none>"


def _of_spec(name: str, field_name: str) -> tuple[Column, Cell]:
    shown: Any = value(f"spec.{field_name}")
    return Column(name=name, field=f"{_SPEC}.{field_name}"), shown


_COLUMNS = table_of(
    NAME,
    _of_spec("PodName", "podName"),
    _of_spec("ServiceAccountName", "serviceAccountName"),
    _of_spec("NodeName", "nodeName"),
    _of_spec("SignerName", "signerName"),
    (Column(name="State", text="Is the request Pending, Issued, Denied, or Failed?"), _state),
    (
        Column(name="UnverifiedUserAnnotations", field=f"{_SPEC}.unverifiedUserAnnotations", priority=1),
        _annotations,
    ),
)

PODCERTIFICATEREQUESTS = Kind(
    group="certificates.k8s.io",
    plural="podcertificaterequests",
    kind="PodCertificateRequest",
    resets={"status": WITH_METADATA},
    strategy=PodCertificateRequestStrategy(has_status=True, allows_unconditional_update=False),
    status_strategy=PodCertificateRequestStatusStrategy(keeps_metadata=True, allows_unconditional_update=False),
    returns_deleted_object=True,
    fields={"spec.signerName": text("spec.signerName"), "spec.nodeName": text("spec.nodeName")},
    columns=_COLUMNS,
    history=(before((1, 37), versions=()),),
)
