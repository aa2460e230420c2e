"""Limited resources: those that need a quota to be used at all, from the configuration of the plugin ResourceQuota.

limitedResources:
- resource: pods
  matchScopes:        # pods of this priority need a quota with that scope
  - {scopeName: PriorityClass, operator: In, values: [high]}
- resource: persistentvolumeclaims
  matchContains: [.storageclass.storage.k8s.io/requests.storage]
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import amounts, objects
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.plugins.quota import charging
from aio_apiserver.registry.plugins.quota.evaluators import Evaluator, Scope


class Limited(Struct, frozen=True):
    """A limited resource: objects need a quota when their usage contains one of the names, or when a scope matches."""

    resource: GroupResource
    match_contains: Sequence[str]
    match_scopes: Sequence[Scope]


def configured(configuration: Any) -> Sequence[Limited]:
    """The limited resources of a configuration. Raises ValueError."""
    given = configuration.get("limitedResources") if isinstance(configuration, dict) else None
    return tuple(_limited(one, index) for index, one in enumerate(given or ()))


def _limited(given: Any, index: int) -> Limited:
    if not isinstance(given, dict) or not given.get("resource"):
        raise ValueError(f"configuration of ResourceQuota: limitedResources[{index}].resource: Required value")
    resource = GroupResource(given.get("apiGroup") or "", given["resource"])
    return Limited(resource, given.get("matchContains") or (), given.get("matchScopes") or ())


def why_uncovered(
    limits: Sequence[Limited], quotas: Sequence[Object], evaluator: Evaluator, attributes: Attributes, *, now: float
) -> str:
    """Why a write needs a quota that does not exist; empty when it needs none."""
    obj = attributes.obj
    assert obj is not None
    usage = evaluator.usage(obj, now=now)
    if attributes.operation is Operation.UPDATE and attributes.old is not None:
        growth = amounts.grown(usage, evaluator.usage(attributes.old, now=now))
        if not any(amount.digits for amount in growth.values()):
            return ""
    words = [word for one in limits if one.resource == attributes.resource for word in one.match_contains]
    used = {name for name, amount in usage.items() if amount.digits > 0}
    uncovered = used - _covered(quotas, evaluator, obj)
    missing = sorted(name for name in uncovered if any(word in name for word in words))
    if missing:
        return f"insufficient quota to consume: {','.join(missing)}"
    scopes = list(_uncovered_scopes(limits, quotas, evaluator, obj))
    return f"insufficient quota to match these scopes: [{' '.join(map(_scope_text, scopes))}]" if scopes else ""


def _covered(quotas: Sequence[Object], evaluator: Evaluator, obj: Object) -> set[str]:
    """The names of resources for which some quota counts the object."""
    return {
        name
        for quota in quotas
        if charging.looks_at(quota, evaluator, obj)
        for name in evaluator.names(objects.get(quota, "status.hard", {}))
    }


def _uncovered_scopes(
    limits: Sequence[Limited], quotas: Sequence[Object], evaluator: Evaluator, obj: Object
) -> Iterator[Scope]:
    known = {
        scope.get("scopeName")
        for quota in quotas
        for scope in charging.scopes_of(quota)
        if evaluator.is_in_scope(scope, obj)
    }
    for limit in limits:
        for scope in limit.match_scopes:
            if evaluator.is_in_scope(scope, obj) and scope.get("scopeName") not in known:
                yield scope


def _scope_text(scope: Scope) -> str:
    values = " ".join(scope.get("values") or ())
    return f"{{{scope.get('scopeName', '')} {scope.get('operator', '')} [{values}]}}"
