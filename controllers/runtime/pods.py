"""Pods: readiness, availability, deletion order and owners of pods, for controllers.

Pure.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.groups.core.pods.pod_conditions import is_ready

_FINISHED = ("Succeeded", "Failed")
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def phase(pod: Object) -> str:
    return str((pod.get("status") or {}).get("phase", ""))


def is_finished(pod: Object) -> bool:
    """Whether it has succeeded or failed."""
    return phase(pod) in _FINISHED


def is_ending(obj: Object) -> bool:
    return bool(obj["metadata"].get("deletionTimestamp"))


def is_active(pod: Object) -> bool:
    """Whether it is neither finished nor terminating."""
    return not is_finished(pod) and not is_ending(pod)


def seconds(text: str) -> float:
    """A timestamp of metadata, in seconds since the epoch."""
    return datetime.fromisoformat(text).timestamp()


def ready_since(pod: Object) -> float | None:
    """The time since which it is ready; None when it is not ready."""
    for one in (pod.get("status") or {}).get("conditions") or ():
        if one.get("type") == "Ready" and one.get("status") == "True":
            return seconds(one["lastTransitionTime"]) if one.get("lastTransitionTime") else 0.0
    return None


def is_available(pod: Object, min_ready_seconds: int, *, now: float) -> bool:
    """Whether it has been ready for minReadySeconds."""
    since = ready_since(pod)
    return since is not None and (not min_ready_seconds or since + min_ready_seconds <= now)


def counts(pods: Iterable[Object], min_ready_seconds: int, *, now: float) -> tuple[int, int]:
    """The numbers of ready and of available pods."""
    ready = [pod for pod in pods if is_ready(pod)]
    return len(ready), sum(1 for pod in ready if is_available(pod, min_ready_seconds, now=now))


def deletion_rank(pod: Object, *before_ages: int) -> tuple[object, ...]:
    """The sort key for deletion: unscheduled, pending, not ready, often restarted and young pods come first.

    before_ages: numbers that count more than the ages and the restarts; the least is deleted first.
    """
    metadata = pod["metadata"]
    since = ready_since(pod)
    return (
        bool(pod["spec"].get("nodeName")),
        _PHASES.get(phase(pod), 0),
        since is not None,
        *before_ages,
        -(since or 0.0),
        *(-count for count in _restarts(pod)),
        -seconds(metadata["creationTimestamp"]),
        metadata["name"],
    )


def replica_rank(pod: Object, on_nodes: Mapping[str, int]) -> tuple[object, ...]:
    """The sort key for the deletion of replicas: also by deletion cost, and by the numbers of related pods by node."""
    cost = (pod["metadata"].get("annotations") or {}).get("controller.kubernetes.io/pod-deletion-cost", "0")
    beside = on_nodes.get(pod["spec"].get("nodeName", ""), 0)
    return deletion_rank(pod, int(cost) if cost.lstrip("+-").isdigit() else 0, -beside)


def on_nodes(pods: Iterable[Object]) -> Mapping[str, int]:
    """The numbers of active pods by node."""
    return Counter(pod["spec"].get("nodeName", "") for pod in pods if is_active(pod))


def _restarts(pod: Object) -> tuple[int, int]:
    """The most restarts of a container, and of a sidecar."""
    status, spec = pod.get("status") or {}, pod["spec"]
    sidecars = {one["name"] for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"}
    counts = (one.get("restartCount", 0) for one in status.get("containerStatuses") or ())
    of_sidecars = (
        one.get("restartCount", 0) for one in status.get("initContainerStatuses") or () if one["name"] in sidecars
    )
    return max(counts, default=0), max(of_sidecars, default=0)


def controller_reference(owner: Object, api_version: str, kind: str) -> Object:
    """The owner reference of a controller."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(obj: Object) -> Mapping[str, Any]:
    """The reference to the controller of an object; empty without one."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return dict(owner)
    return {}


def from_template(template: Mapping[str, Any], owner: Object, api_version: str, kind: str) -> Object:
    """A pod from a template, with its owner as controller."""
    given = template.get("metadata") or {}
    metadata: Object = {
        "generateName": f"{owner['metadata']['name']}-",
        "ownerReferences": [controller_reference(owner, api_version, kind)],
    }
    for name in ("labels", "annotations", "finalizers"):
        if given.get(name):
            value = given[name]
            metadata[name] = dict(value) if isinstance(value, dict) else list(value)
    return {"metadata": metadata, "spec": dict(template["spec"])}
