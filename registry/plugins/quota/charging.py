"""Charging: what a write adds to the usage of one ResourceQuota, or why the quota refuses it.

Pure. Must hold: a quota whose `status.used` lacks a limited resource refuses the write.
"""

from collections.abc import Collection, Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import amounts, objects
from aio_apiserver.registry.base.amounts import Amounts
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.plugins.quota.evaluators import Evaluator, Scope


def looks_at(quota: Object, evaluator: Evaluator, obj: Object) -> bool:
    """Whether a quota limits a resource that the object uses."""
    limited = objects.get(quota, "status.hard", {})
    return bool(evaluator.names(limited)) and all(evaluator.is_in_scope(one, obj) for one in scopes_of(quota))


def charge(quota: Object, evaluator: Evaluator, attributes: Attributes, *, now: float) -> Amounts:
    """What a write adds to a quota that matches it. Raises Forbidden."""
    assert attributes.obj is not None
    name = quota["metadata"]["name"]
    hard = amounts.parsed(objects.get(quota, "status.hard"))
    used = amounts.parsed(objects.get(quota, "status.used"))
    limited = evaluator.names(hard)
    if missing := evaluator.missing(limited, attributes.obj):
        raise refusals.forbidden(attributes, f"failed quota: {name}: {missing}")
    if any(one not in used for one in limited):
        raise refusals.forbidden(
            attributes, f"status unknown for quota: {name}, resources: {','.join(sorted(limited))}"
        )
    growth = _growth(quota, evaluator, attributes, now=now)
    taken = {one: amount for one, amount in growth.items() if one in hard and amount.digits}
    total = amounts.added(used, taken)
    exceeded = [one for one in taken if total[one].nanos > hard[one].nanos]
    if exceeded and attributes.subresource != "status":
        raise refusals.forbidden(attributes, _exceeded(name, exceeded, (taken, used, hard)))
    return taken


def _growth(quota: Object, evaluator: Evaluator, attributes: Attributes, *, now: float) -> Amounts:
    """What a write adds to the usage: the whole object when the quota did not match it before."""
    obj, old = attributes.obj, attributes.old
    assert obj is not None
    usage = evaluator.usage(obj, now=now)
    if negative := [name for name, amount in usage.items() if amount.digits < 0]:
        why = f"quota usage is negative for resource(s): {','.join(sorted(negative))}"
        raise refusals.forbidden(attributes, why)
    if attributes.operation is Operation.UPDATE and old is not None and looks_at(quota, evaluator, old):
        return amounts.grown(usage, evaluator.usage(old, now=now))
    return usage


def scopes_of(quota: Object) -> Sequence[Scope]:
    """The scopes of a quota, which an object must all meet."""
    spec = quota.get("spec") or {}
    named = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    return [*named, *objects.get(spec, "scopeSelector.matchExpressions", ())]


def _exceeded(name: str, names: Collection[str], shown: tuple[Amounts, Amounts, Amounts]) -> str:
    requested, used, limited = (amounts.text_of(one, names) for one in shown)
    return f"exceeded quota: {name}, requested: {requested}, used: {used}, limited: {limited}"
