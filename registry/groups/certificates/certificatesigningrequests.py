"""CertificateSigningRequests: a client requests a certificate, an approver approves it, and a signer issues it."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.fields import text
from aio_apiserver.registry.base.validation import field, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.error_history import instead, since
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.certificates import request_validation
from aio_apiserver.registry.groups.certificates.request_validation import APPROVED, CONDITIONS, DENIED, conditions_of
from aio_apiserver.registry.machinery.printing import ages, columns
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE


class RequestStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of requests. The server records the user, and the spec is immutable."""

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        user, spec = context.user, obj.setdefault("spec", {})
        for name in ("username", "uid", "groups", "extra"):
            spec.pop(name, None)
        given = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
        spec.update({name: value for name, value in given.items() if value})
        if user.extra:
            spec["extra"] = {name: list(values) for name, values in user.extra.items()}
        obj.pop("status", None)

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        _keep(new, old, "spec", "status")

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = object_meta.validate(obj["metadata"], is_namespaced=False, check_name=_any_name)
        return errors + super().validate(context, obj) + request_validation.validate(obj, None)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return request_validation.validate_change(self, context, new, old)


class RequestStatusStrategy(RequestStrategy, frozen=True, kw_only=True):
    """The strategy of /status: the signer sets the certificate and conditions, except for approval and denial."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        _keep(new, old, "spec")
        for kind in (APPROVED, DENIED):
            _keep_conditions(new, old, kind)
        _settle_times(new, old, context.now)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return request_validation.validate_change(self, context, new, old, may_sign=True)


class ApprovalStrategy(RequestStrategy, frozen=True, kw_only=True):
    """The strategy of /approval: the approver sets conditions."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        _settle_times(new, old, context.now)
        conditions = objects.get(new, CONDITIONS)
        _keep(new, old, "spec", "status")
        new["status"] = {**(new.get("status") or {}), "conditions": conditions}

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return request_validation.validate_change(self, context, new, old, may_approve=True)


def _keep(new: Object, old: Object, *names: str) -> None:
    for name in names:
        if name in old:
            new[name] = objects.clone(old[name])
        else:
            new.pop(name, None)


def _keep_conditions(new: Object, old: Object, kind: str) -> None:
    """Keep the old conditions of a type when their number stays."""
    before = conditions_of(old, kind)
    if len(before) != len(conditions_of(new, kind)):
        return
    left = iter(before)
    conditions = objects.get(new, CONDITIONS) or []
    conditions[:] = [next(left) if one.get("type") == kind else one for one in conditions]


def _settle_times(new: Object, old: Object, now: float) -> None:
    for condition in objects.get(new, CONDITIONS) or ():
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = timestamp(now)
        if not condition.get("lastTransitionTime"):
            same = (
                one["lastTransitionTime"]
                for one in conditions_of(old)
                if one.get("lastTransitionTime")
                and all(one.get(name) == condition.get(name) for name in ("type", "status"))
            )
            condition["lastTransitionTime"] = next(same, timestamp(now))


def _any_name(_name: str, _is_prefix: bool) -> list[str]:
    return []


_SIGNER = """\
Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If empty, it will be \
defaulted:
 1. If it's a kubelet client certificate, it is assigned
    "kubernetes.io/kube-apiserver-client-kubelet".
 2. If it's a kubelet serving certificate, it is assigned
    "kubernetes.io/kubelet-serving".
 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".
Distribution of trust for signers happens out of band. You can select on this field using `spec.signerName`."""


def _duration(request: Object, _now: float) -> str:
    seconds = objects.get(request, "spec.expirationSeconds")
    return NONE if seconds is None else ages.duration(seconds)


def _condition(request: Object, _now: float) -> str:
    types = {one.get("type") for one in objects.get(request, "status.conditions", ())}
    words = ["Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"]
    if "Failed" in types:
        words.append("Failed")
    if objects.get(request, "status.certificate"):
        words.append("Issued")
    return ",".join(words)


_REQUEST = "certificates.v1.CertificateSigningRequestSpec"
_COLUMNS = table_of(
    NAME,
    AGE,
    (Column(name="SignerName", text=_SIGNER), columns.text("spec.signerName", NONE)),
    (Column(name="Requestor", text="Base64-encoded PKCS#10 CSR data"), value("spec.username")),
    (Column(name="RequestedDuration", field=f"{_REQUEST}.expirationSeconds"), _duration),
    (Column(name="Condition", text="Conditions applied to the request, such as approval or denial."), _condition),
)

_EXCLUSIVE = field.invalid(
    "status.conditions",
    '{conditions[{"type": "Approved"}], conditions[{"type": "Denied"}]}',
    'must specify at most one of: `conditions[{"type": "Approved"}]`, `conditions[{"type": "Denied"}]`',
)
_ERRORS = (
    since((1, 37), r"status\.conditions", instead(_EXCLUSIVE), detail="Approved and Denied conditions are mutually.*"),
)

CERTIFICATESIGNINGREQUESTS = Kind(
    group="certificates.k8s.io",
    plural="certificatesigningrequests",
    kind="CertificateSigningRequest",
    resets={
        "": ("spec", "status"),
        "approval": ("spec", "status.certificate"),
        "status": ("spec", "status.conditions"),
    },
    is_namespaced=False,
    short_names=("csr",),
    strategy=RequestStrategy(check_name=_any_name, looks_at_metadata=False),
    status_strategy=RequestStatusStrategy(check_name=_any_name),
    fields={"spec.signerName": text("spec.signerName")},
    columns=_COLUMNS,
    errors=_ERRORS,
)
APPROVAL = ApprovalStrategy(check_name=_any_name)
