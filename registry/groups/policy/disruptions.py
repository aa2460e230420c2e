"""Disruptions: charges an eviction to a PodDisruptionBudget, or reports why it is not allowed. Pure.

A disrupted pod stays in the status, with its time, until the controller has processed it.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.base.errors import Cause, Forbidden, TooManyRequests
from aio_apiserver.registry.base.names import GroupResource

_RESOURCE = GroupResource("policy", "poddisruptionbudget")
_VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget."
_MOST_DISRUPTED = 2000
_RETRY_SECONDS = 10
_CONDITION = "DisruptionAllowed"


def allows_unhealthy(budget: Object) -> bool:
    """Whether an unhealthy pod may be evicted without a charge."""
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(status.get("currentHealthy", 0) >= desired > 0)


def charge(budget: Object, pod_name: str, *, now: str) -> None:
    """Charge one disruption, in place. Raises TooManyRequests, Forbidden."""
    metadata, status = budget["metadata"], budget.setdefault("status", {})
    name = metadata["name"]
    if status.get("observedGeneration", 0) < metadata.get("generation", 0):
        raise still_processed(name)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise Forbidden(_RESOURCE, name, why="pdb disruptions allowed is negative")
    if len(status.get("disruptedPods") or ()) > _MOST_DISRUPTED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise Forbidden(_RESOURCE, name, why=why)
    if allowed == 0:
        raise TooManyRequests(_VIOLATED, retry_after_seconds=0, causes=(_cause(_why_none(name, status)),))
    status["disruptionsAllowed"] = allowed - 1
    if allowed == 1:
        _say_that_none_is_left(status, now=now)
    status["disruptedPods"] = {**(status.get("disruptedPods") or {}), pod_name: now}


def still_processed(name: str) -> TooManyRequests:
    """The error before the controller has computed the allowed disruptions."""
    cause = _cause(f"The disruption budget {name} is still being processed by the server.")
    return TooManyRequests(_VIOLATED, retry_after_seconds=_RETRY_SECONDS, causes=(cause,))


def _cause(message: str) -> Cause:
    return Cause("DisruptionBudget", message)


def _why_none(name: str, status: Object) -> str:
    condition = conditions.find(status, _CONDITION) or {}
    says_why = condition.get("status") == "False" and condition.get("message")
    current, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if says_why and condition.get("reason") == "SyncFailed":
        why = f"does not allow evicting pods currently because it failed sync: {condition['message']}"
    elif current <= desired:
        why = f"needs {desired} healthy pods and has {current} currently"
    elif says_why:
        why = f"does not allow evicting pods currently ({condition.get('reason', '')}): {condition['message']}"
    else:
        why = "does not allow evicting pods currently"
    return f"The disruption budget {name} {why}"


def _say_that_none_is_left(status: Object, *, now: str) -> None:
    condition = conditions.find(status, _CONDITION)
    if condition is None:
        condition = {"type": _CONDITION}
        status["conditions"] = [*(status.get("conditions") or ()), condition]
    if condition.get("status") != "False":
        condition["status"] = "False"
        condition["lastTransitionTime"] = now
    condition |= {"reason": "InsufficientPods", "message": ""}
    if generation := status.get("observedGeneration"):
        condition["observedGeneration"] = generation
