"""Preemption: the pods of lower priority that have to go so that a pod fits, as kube-scheduler chooses them.

Pure. It tries on the view itself, and leaves it as it was. Disruption budgets are honoured as long as another choice
exists.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import seconds
from aio_apiserver.registry.base.validation import label_selectors
from aio_apiserver.simulation.scheduling.node_views import NodeView
from aio_apiserver.simulation.scheduling.pod_rules import rules_of
from aio_apiserver.simulation.scheduling.pod_views import PodView
from aio_apiserver.simulation.scheduling.rejections import Rejection, final
from aio_apiserver.simulation.scheduling.search import Wanted

MOST_CANDIDATES = 100
"""The search ends with so many candidates, or with a tenth of the nodes if that is more."""
NEVER = "not eligible due to preemptionPolicy=Never."
WAITING = "not eligible due to a terminating pod on the nominated node."
REASON = "PreemptionByScheduler"
_NO_VICTIMS = final("No preemption victims found for incoming pod")


class PreemptionCandidate(Struct, frozen=True):
    """A node and the pods that would have to go, the most important one first."""

    node: str
    victims: Sequence[PodView]
    violations: int
    """The number of victims whose disruption budget would be violated."""

    @property
    def cost(self) -> tuple[object, ...]:
        """The sort key of candidates."""
        highest = self.victims[0].priority
        started = min(_started(one) for one in self.victims if one.priority == highest)
        total = sum(one.priority + 2**31 for one in self.victims)
        return self.violations, highest, total, len(self.victims), -started


def ineligible(pod: PodView, nominated: NodeView | None, *, is_hopeless: bool) -> str:
    """Why a pod may not preempt others; empty when it may. `is_hopeless`: of the node that it is nominated to."""
    if pod.obj["spec"].get("preemptionPolicy") == "Never":
        return NEVER
    if nominated is None or is_hopeless:
        return ""
    pods = nominated.pods.values()
    return WAITING if any(one.priority < pod.priority and _is_preempted(one) for one in pods) else ""


def _is_preempted(pod: PodView) -> bool:
    conditions = (pod.obj.get("status") or {}).get("conditions") or ()
    return pod.is_ending and any(
        one["type"] == "DisruptionTarget" and one.get("reason") == REASON and one["status"] == "True"
        for one in conditions
    )


def on_node(wanted: Wanted, node: NodeView, budgets: Iterable[Object]) -> PreemptionCandidate | Rejection:
    """The candidate for a node, or why the node is none."""
    view, pod = wanted.view, wanted.pod
    lower = sorted((one for one in node.pods.values() if one.priority < pod.priority), key=_importance)
    if not lower:
        return _NO_VICTIMS
    for one in lower:
        view.remove(one.key)
    victims: list[PodView] = []
    try:
        rejected = wanted.reject_beside_nominated(node, rules_of(pod, view))
        if rejected is not None:
            return rejected
        violating, others = _by_budget(lower, budgets)
        violations = sum(not _reprieve(wanted, node, one, victims) for one in violating)
        for one in others:
            _reprieve(wanted, node, one, victims)
    finally:
        for one in lower:
            if not view.node_of(one.key):
                view.put(one, node.name)
    return PreemptionCandidate(node.name, sorted(victims, key=_importance), violations) if victims else _NO_VICTIMS


def _reprieve(wanted: Wanted, node: NodeView, victim: PodView, victims: list[PodView]) -> bool:
    """Put a pod back if the other one still fits. Returns whether it stays."""
    wanted.view.put(victim, node.name)
    if wanted.reject_beside_nominated(node, rules_of(wanted.pod, wanted.view)) is None:
        return True
    wanted.view.remove(victim.key)
    victims.append(victim)
    return False


def _importance(pod: PodView) -> tuple[float, ...]:
    """The sort key: the most important pod comes first."""
    return -pod.priority, _started(pod)


def _started(pod: PodView) -> float:
    given = (pod.obj.get("status") or {}).get("startTime") or pod.obj["metadata"]["creationTimestamp"]
    return seconds(given)


def _by_budget(pods: Iterable[PodView], budgets: Iterable[Object]) -> tuple[list[PodView], list[PodView]]:
    """The pods whose budget would be violated, and the others, each in the given order."""
    protecting = list(budgets)
    allowed = [int((one.get("status") or {}).get("disruptionsAllowed") or 0) for one in protecting]
    violating: list[PodView] = []
    others: list[PodView] = []
    for pod in pods:
        concerned = [place for place, budget in enumerate(protecting) if _protects(budget, pod)]
        for place in concerned:
            allowed[place] -= 1
        (violating if any(allowed[place] < 0 for place in concerned) else others).append(pod)
    return violating, others


def _protects(budget: Mapping[str, Any], pod: PodView) -> bool:
    """Whether a disruption of the pod counts against the budget."""
    selector = budget["spec"].get("selector") or {}
    if not pod.labels or budget["metadata"]["namespace"] != pod.namespace or label_selectors.is_empty(selector):
        return False
    disrupted = (budget.get("status") or {}).get("disruptedPods") or {}
    return label_selectors.selects(selector, pod.labels) and pod.obj["metadata"]["name"] not in disrupted
