"""Pods: readiness, availability, deletion order and owners of pods, for controllers.

Pure.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from aio_apiserver.registry.groups.core.pod_conditions import is_ready
from aio_apiserver.storage.stored_object import Object

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


def deletion_rank(pod: Object) -> tuple[object, ...]:
    """The sort key for deletion: unscheduled, pending, not ready, low deletion cost and young pods come first."""
    metadata = pod["metadata"]
    cost = (metadata.get("annotations") or {}).get("controller.kubernetes.io/pod-deletion-cost", "0")
    since = ready_since(pod)
    return (
        bool(pod["spec"].get("nodeName")),
        _PHASES.get(phase(pod), 0),
        since is not None,
        int(cost) if cost.lstrip("+-").isdigit() else 0,
        -(since or 0.0),
        -seconds(metadata["creationTimestamp"]),
        metadata["name"],
    )


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
