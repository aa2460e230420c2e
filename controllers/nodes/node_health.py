"""Node health: the conditions and taints of nodes whose kubelet reports trouble, or nothing at all.

Pure. It is the node lifecycle of kube-controller-manager, without its rate limits by zone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import seconds

GRACE_SECONDS, STARTUP_GRACE_SECONDS = 50.0, 60.0
"""The time without a heartbeat after which a node counts as lost; longer for one that has never reported."""
_HEARTBEATS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
_CONDITION_TAINTS: Mapping[tuple[str, str], str] = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_OWN_KEYS = frozenset({*_CONDITION_TAINTS.values(), _UNSCHEDULABLE})
Taint = Mapping[str, Any]


def conditions_of(node: Object) -> Sequence[Mapping[str, Any]]:
    return (node.get("status") or {}).get("conditions") or ()


def ready_status(node: Object) -> str:
    """The status of the condition Ready; empty for a node that has never reported it."""
    return next((str(one["status"]) for one in conditions_of(node) if one["type"] == "Ready"), "")


def heartbeat(node: Object, lease: Object | None) -> tuple[str, str]:
    """A value that changes with each sign of life."""
    beats = [str(one.get("lastHeartbeatTime")) for one in conditions_of(node) if one["type"] == "Ready"]
    renewed = str((lease["spec"] if lease is not None else {}).get("renewTime", ""))
    return next(iter(beats), ""), renewed


def created(node: Object) -> float:
    return seconds(node["metadata"]["creationTimestamp"])


def lose(node: Object, *, now: str) -> bool:
    """Set the conditions of a node that has fallen silent. Returns whether they change."""
    status = node.get("status") or {}
    conditions = [dict(one) for one in status.get("conditions") or ()]
    known = {one["type"]: one for one in conditions}
    has_changed = False
    for kind in _HEARTBEATS:
        if kind not in known:
            reason, message = "NodeStatusNeverUpdated", "Kubelet never posted node status."
            beat = node["metadata"]["creationTimestamp"]
            conditions.append({"type": kind, "lastHeartbeatTime": beat, **_unknown(reason, message, now)})
        elif known[kind]["status"] != "Unknown":
            known[kind].update(_unknown("NodeStatusUnknown", "Kubelet stopped posting node status.", now))
        else:
            continue
        has_changed = True
    node["status"] = {**status, "conditions": conditions}
    return has_changed


def _unknown(reason: str, message: str, now: str) -> Object:
    return {"status": "Unknown", "reason": reason, "message": message, "lastTransitionTime": now}


def taint(node: Object, *, now: str) -> bool:
    """Set the taints that follow from the conditions and from a cordon. Returns whether they change."""
    before = list(node["spec"].get("taints") or ())
    keys = [_CONDITION_TAINTS.get((one["type"], one["status"]), "") for one in conditions_of(node)]
    wanted = [(key, "NoSchedule") for key in filter(None, keys)]
    wanted += [(key, "NoExecute") for key in keys if key in (NOT_READY, UNREACHABLE)]
    wanted += [(_UNSCHEDULABLE, "NoSchedule")] if node["spec"].get("unschedulable") else []
    kept = [one for one in before if not _is_own(one) or (one["key"], one["effect"]) in wanted]
    present = {(one["key"], one["effect"]) for one in kept}
    after = [*kept, *(_taint(key, effect, now) for key, effect in wanted if (key, effect) not in present)]
    if after == before:
        return False
    node["spec"]["taints"] = after
    if not after:
        del node["spec"]["taints"]
    return True


def _is_own(one: Taint) -> bool:
    """Whether the node lifecycle decides about a taint."""
    key, effect = one["key"], one.get("effect")
    return key in _OWN_KEYS and (effect == "NoSchedule" or (effect == "NoExecute" and key in (NOT_READY, UNREACHABLE)))


def _taint(key: str, effect: str, now: str) -> Object:
    return {"key": key, "effect": effect, "timeAdded": now}


def unready(pod: Object, *, now: str) -> bool:
    """Set the condition Ready of a pod to false. Returns whether it was true."""
    status = pod.get("status") or {}
    conditions = [dict(one) for one in status.get("conditions") or ()]
    for one in conditions:
        if one["type"] == "Ready" and one["status"] == "True":
            one.update({"status": "False", "lastTransitionTime": now})
            pod["status"] = {**status, "conditions": conditions}
            return True
    return False
