"""Certificate signing requests: somebody asks for a certificate, somebody approves, a signer signs."""

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.fields import text
from aio_apiserver.registry.base.validation import object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.certificates import request_validation
from aio_apiserver.registry.groups.certificates.request_validation import APPROVED, CONDITIONS, DENIED, conditions_of
from aio_apiserver.storage.stored_object import Object


class RequestStrategy(Strategy, frozen=True, kw_only=True):
    """Who asks is written down; nothing of it ever changes."""

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
    """The signer's part: the certificate, and conditions other than of approval."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        _keep(new, old, "spec")
        for kind in (APPROVED, DENIED):
            _keep_conditions(new, old, kind)
        _settle_times(new, old, context.now)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return request_validation.validate_change(self, context, new, old, may_sign=True)


class ApprovalStrategy(RequestStrategy, frozen=True, kw_only=True):
    """The approver's part: the conditions."""

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
    """Conditions of a type that are neither more nor fewer stay as they were."""
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


CERTIFICATESIGNINGREQUESTS = Kind(
    group="certificates.k8s.io",
    plural="certificatesigningrequests",
    kind="CertificateSigningRequest",
    is_namespaced=False,
    short_names=("csr",),
    strategy=RequestStrategy(check_name=_any_name, looks_at_metadata=False),
    status_strategy=RequestStatusStrategy(check_name=_any_name),
    fields={"spec.signerName": text("spec.signerName")},
)
APPROVAL = ApprovalStrategy(check_name=_any_name)
