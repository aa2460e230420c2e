"""Eviction times: when pods have to leave a node with NoExecute taints.

Pure.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.node_placement import covers
from aio_apiserver.registry.groups.core.pods import pod_conditions

_REASON = "DeletionByTaintManager"
_MESSAGE = "Taint manager: deleting due to NoExecute taint"
Taint = Mapping[str, Any]


def taints_of(node: Object) -> list[Taint]:
    """The taints that evict pods."""
    return [one for one in node["spec"].get("taints") or () if one.get("effect") == "NoExecute"]


def stays_for(pod: Object, taints: list[Taint]) -> float | None:
    """The seconds for which a pod tolerates all taints; None for ever."""
    if not taints:
        return None
    tolerations = pod["spec"].get("tolerations") or ()
    used = []
    for taint in taints:
        matching = next((one for one in tolerations if covers(one, taint)), None)
        if matching is None:
            return 0.0
        used.append(matching)
    times = [float(one["tolerationSeconds"]) for one in used if one.get("tolerationSeconds") is not None]
    return max(0.0, min(times)) if times else None


def mark(pod: Object, *, now: str) -> None:
    """Note the reason of the deletion in the status of a pod."""
    status = dict(pod.get("status") or {})
    status["conditions"] = [dict(one) for one in status.get("conditions") or ()]
    condition = {"type": "DisruptionTarget", "status": "True", "reason": _REASON, "message": _MESSAGE}
    pod_conditions.put(status, condition, now=now)
    pod["status"] = status
