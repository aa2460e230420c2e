"""Garbage pods: which pods the garbage collector deletes.

Pure.
"""

from collections.abc import Collection, Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods
from aio_apiserver.registry.groups.core.pods.pod_conditions import is_ready, put

MOST_FINISHED = 12_500
"""kube-controller-manager's --terminated-pod-gc-threshold."""
QUARANTINE_SECONDS = 40.0
"""The time for which a node may be missing before its pods are deleted."""
_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


def node_of(pod: Object) -> str:
    return str(pod["spec"].get("nodeName") or "")


def is_stuck(pod: Object, node: Object | None) -> bool:
    """Whether a terminating pod has no kubelet that could finish it."""
    if not pods.is_ending(pod):
        return False
    return not node_of(pod) or (node is not None and _is_out_of_service(node))


def _is_out_of_service(node: Object) -> bool:
    return not is_ready(node) and any(one["key"] == _OUT_OF_SERVICE for one in node["spec"].get("taints") or ())


def superfluous(finished: Collection[Object], most: int = MOST_FINISHED) -> Sequence[Object]:
    """The finished pods above the limit: evicted ones first, then the oldest."""
    excess = len(finished) - most
    return sorted(finished, key=_rank)[:excess] if excess > 0 else ()


def _rank(pod: Object) -> tuple[bool, str, str]:
    metadata = pod["metadata"]
    is_evicted = pods.phase(pod) == "Failed" and pod["status"].get("reason") == "Evicted"
    return not is_evicted, metadata["creationTimestamp"], metadata["name"]


def fail(pod: Object, *, is_lost: bool, now: str) -> bool:
    """Mark a pod as failed, in place. Returns whether it changed."""
    if pods.is_finished(pod):
        return False
    status = dict(pod.get("status") or {})
    status["phase"] = "Failed"
    if is_lost:
        status["conditions"] = [dict(one) for one in status.get("conditions") or ()]
        lost = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"}
        put(status, {**lost, "message": "PodGC: node no longer exists"}, now=now)
    pod["status"] = status
    return True
