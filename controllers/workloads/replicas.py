"""Replicas: the active pods and the status of a ReplicaSet or ReplicationController.

Pure.
"""

from collections.abc import Iterable, Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods
from aio_apiserver.controllers.workloads.rollouts import replicas
from aio_apiserver.registry.base import conditions


def sort(claimed: Sequence[Object]) -> tuple[Sequence[Object], int]:
    """The active pods of an owner, and the number of terminating ones. Finished pods are neither."""
    unfinished = [pod for pod in claimed if not pods.is_finished(pod)]
    active = [pod for pod in unfinished if not pods.is_ending(pod)]
    return active, len(unfinished) - len(active)


def surplus(active: Sequence[Object], related: Iterable[Object], number: int) -> Sequence[Object]:
    """The pods to delete, in kube-controller-manager's order. related: the pods of owners under the same controller."""
    on_nodes = pods.on_nodes(related)
    return sorted(active, key=lambda pod: pods.replica_rank(pod, on_nodes))[:number]


def status(owner: Object, active: Sequence[Object], ending: int, *, now: float) -> Object:
    """The status, without changes of conditions. `ending`: the number of terminating pods."""
    template = (owner["spec"]["template"].get("metadata") or {}).get("labels") or {}
    labelled = [pod for pod in active if template.items() <= (pod["metadata"].get("labels") or {}).items()]
    ready, available = pods.counts(active, owner["spec"].get("minReadySeconds") or 0, now=now)
    before = owner.get("status") or {}
    result: Object = {
        "replicas": len(active),
        "fullyLabeledReplicas": len(labelled),
        "readyReplicas": ready,
        "availableReplicas": available,
        "observedGeneration": owner["metadata"].get("generation", 0),
    }
    result = {name: number for name, number in result.items() if number or name == "replicas"}
    if "selector" in owner["spec"] and "matchLabels" in owner["spec"]["selector"]:
        result["terminatingReplicas"] = ending
    if before.get("conditions"):
        result["conditions"] = [dict(one) for one in before["conditions"]]
    return result


def report_failure(status: Object, owner: Object, active: int, why: str, *, now: str) -> None:
    """Set or remove the condition ReplicaFailure."""
    if not why:
        conditions.remove(status, "ReplicaFailure")
    elif conditions.find(status, "ReplicaFailure") is None:
        reason = "FailedCreate" if active < replicas(owner) else "FailedDelete"
        conditions.report(status, "ReplicaFailure", "True", now=now, reason=reason, message=why)
