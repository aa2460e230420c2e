"""Preempting: looks for pods of lower priority that could make room, over all nodes, with pauses for other tasks."""

from collections.abc import Mapping

from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.simulation.scheduling import preemption
from aio_apiserver.simulation.scheduling.preemption import MOST_CANDIDATES, PreemptionCandidate
from aio_apiserver.simulation.scheduling.rejections import Diagnosis, Rejection, not_preempted
from aio_apiserver.simulation.scheduling.search import Wanted

_A_TENTH = 10


async def candidate(wanted: Wanted, diagnosis: Diagnosis, budgets: Mapping[str, Object]) -> PreemptionCandidate | str:
    """The pods to remove, or the message why none are."""
    name = wanted.pod.nominated_node
    rejected = diagnosis.nodes.get(name)
    is_hopeless = rejected is not None and rejected.is_final
    reason = preemption.ineligible(wanted.pod, wanted.view.node(name), is_hopeless=is_hopeless)
    if reason:
        return reason
    found: list[PreemptionCandidate] = []
    failed: dict[str, Rejection] = {}
    enough = max(MOST_CANDIDATES, diagnosis.total // _A_TENTH)
    async for one in in_turns(diagnosis.hopeful):
        node = wanted.view.node(one)
        result = preemption.on_node(wanted, node, budgets.values()) if node is not None else None
        if isinstance(result, PreemptionCandidate):
            found.append(result)
        elif result is not None:
            failed[one] = result
        if len(found) >= enough and any(not one.violations for one in found):
            break
    return min(found, key=lambda one: one.cost) if found else not_preempted(failed, diagnosis.total)
