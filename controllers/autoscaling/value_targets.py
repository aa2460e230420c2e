"""value_targets: from one value for a whole target to the replicas that a horizontal pod autoscaler proposes.

Pure. Metrics of objects and external metrics have such values. Amounts are in thousandths.
"""

import math
from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.autoscaling.pod_usage import Gauged, Proposal, Tolerances, Uncountable
from aio_apiserver.controllers.runtime.pods import phase
from aio_apiserver.registry.groups.core.pods.pod_conditions import is_ready

_MOST_REPLICAS = 2**31 - 1
_MOST_AMOUNT = 2**63 - 1


def for_value(amount: int, target: int, current: int, pods: Sequence[Object], tolerances: Tolerances) -> Proposal:
    """The replicas for a target of the value itself: the ready pods times the ratio. Raises Uncountable."""
    ratio = amount / target
    if tolerances.cover(ratio):
        return Proposal(current, Gauged(ratio, amount))
    if not pods:
        none = "no pods returned by selector while calculating replica count"
        raise Uncountable(f"unable to calculate ready pods: {none}")
    ready = sum(1 for pod in pods if phase(pod) == "Running" and is_ready(pod))
    return Proposal(min(math.ceil(ratio * ready), _MOST_REPLICAS), Gauged(ratio, amount))


def for_average(amount: int, target: int, pods: int, tolerances: Tolerances) -> Proposal:
    """The replicas for a target of the value divided by the number of pods."""
    ratio = amount / (target * pods) if pods else math.inf
    replicas = pods if tolerances.cover(ratio) else min(math.ceil(amount / target), _MOST_REPLICAS)
    return Proposal(replicas, Gauged(ratio, math.ceil(amount / max(pods, 1))))


def total(amounts: Sequence[int]) -> int:
    """The sum of values, as far as 64 bits hold it."""
    return min(sum(amounts), _MOST_AMOUNT)
