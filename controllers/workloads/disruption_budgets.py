"""Disruption budgets: how many pods a pod disruption budget allows to evict.

Pure.
"""

from collections.abc import Iterable

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods
from aio_apiserver.controllers.workloads.rollouts import scaled
from aio_apiserver.registry.base import conditions, objects
from aio_apiserver.registry.groups.core.pods.pod_conditions import is_ready

_SOON_SECONDS = 120.0
"""The seconds for which an evicted pod counts as disrupted."""
_KIND = "DisruptionAllowed"


def disrupted(budget: Object, members: Iterable[Object], *, now: float) -> dict[str, str]:
    """The evicted pods that still exist."""
    there = {pod["metadata"]["name"] for pod in members if not pods.is_ending(pod)}
    noted: dict[str, str] = objects.get(budget, "status.disruptedPods", {})
    return {name: time for name, time in noted.items() if name in there and pods.seconds(time) + _SOON_SECONDS > now}


def amounts(budget: Object, pod_count: int, expected: int) -> tuple[int, int]:
    """The expected and the required healthy number of pods. `expected`: the replicas of their owners."""
    spec = budget["spec"]
    if spec.get("maxUnavailable") is not None:
        return expected, max(0, expected - scaled(spec["maxUnavailable"], expected, up=True))
    minimum = spec.get("minAvailable")
    if isinstance(minimum, str):
        return expected, scaled(minimum, expected, up=True)
    return pod_count, int(minimum or 0)


def status(budget: Object, members: list[Object], expected: int, *, now: float, shown: str) -> Object:
    """The status of a budget over its pods."""
    going = disrupted(budget, members, now=now)
    healthy = sum(
        1 for pod in members if is_ready(pod) and not pods.is_ending(pod) and pod["metadata"]["name"] not in going
    )
    count, desired = amounts(budget, len(members), expected)
    allowed = max(0, healthy - desired) if count > 0 else 0
    generation = budget["metadata"].get("generation", 0)
    result: Object = {
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": count,
        "disruptionsAllowed": allowed,
        "observedGeneration": generation,
        "conditions": [dict(one) for one in objects.get(budget, "status.conditions", ())],
    }
    if going:
        result["disruptedPods"] = going
    value, reason = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    conditions.report(result, _KIND, value, now=shown, reason=reason, message="", observedGeneration=generation)
    condition = conditions.find(result, _KIND)
    assert condition is not None
    condition["observedGeneration"] = generation
    return result
