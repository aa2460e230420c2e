"""Pods columns: the columns of a Pod: ready containers, status in one word, and restarts.

The status word comes from three sources, and later ones win: the phase, the first init container that is not done, the
containers. Of the containers, the first one wins.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import ages, formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, Columns
from aio_apiserver.registry.machinery.printing.formats import NONE

_GATED = "SchedulingGated"
_NODE_LOST = "NodeLost"
_TERMINAL = frozenset({"Failed", "Succeeded"})
_COMPLETED: Mapping[str, str] = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}

_COLUMNS = (
    NAME[0],
    Column(name="Ready", text="The aggregate readiness state of this pod for accepting traffic."),
    Column(name="Status", text="The aggregate status of the containers in this pod."),
    Column(
        name="Restarts",
        text="The number of times the containers in this pod have been restarted and when the last container in this "
        "pod has restarted.",
    ),
    AGE[0],
    Column(name="IP", field="core.v1.PodStatus.podIP", priority=1),
    Column(name="Node", field="core.v1.PodSpec.nodeName", priority=1),
    Column(name="Nominated Node", field="core.v1.PodStatus.nominatedNodeName", priority=1),
    Column(name="Readiness Gates", field="core.v1.PodSpec.readinessGates", priority=1),
)


class _Restarts(Struct):
    """The number of restarts, and the time of the last one (0 for never)."""

    count: int = 0
    last: float = 0.0

    def add(self, status: Mapping[str, Any]) -> None:
        self.count += status.get("restartCount", 0)
        finished = objects.get(dict(status), "lastState.terminated.finishedAt")
        if finished:
            self.last = max(self.last, ages.seconds_of(finished))

    def text(self, now: float) -> str:
        if self.count and self.last:
            return f"{self.count} ({ages.duration(now - self.last)} ago)"
        return str(self.count)


class _Summary(Struct):
    """The cells of a pod while they are computed."""

    reason: str
    total: int
    ready: int = 0
    restarts: _Restarts = field(default_factory=_Restarts)
    sidecar_restarts: _Restarts = field(default_factory=_Restarts)
    is_initializing: bool = False


def _cells(pod: Object, now: float) -> list[Any]:
    summary = _summary(pod)
    return [
        pod["metadata"].get("name", ""),
        f"{summary.ready}/{summary.total}",
        summary.reason,
        summary.restarts.text(now),
        ages.since(pod["metadata"].get("creationTimestamp"), now),
        next((address.get("ip", "") for address in objects.get(pod, "status.podIPs", ())), "") or NONE,
        objects.get(pod, "spec.nodeName") or NONE,
        objects.get(pod, "status.nominatedNodeName") or NONE,
        _readiness_gates(pod),
    ]


def _summary(pod: Object) -> _Summary:
    status = pod.get("status") or {}
    sidecars = _sidecars(pod)
    reason = status.get("reason") or status.get("phase", "")
    scheduled = [one for one in status.get("conditions") or () if one.get("type") == "PodScheduled"]
    if any(one.get("reason") == _GATED for one in scheduled):
        reason = _GATED
    summary = _Summary(reason, len(objects.get(pod, "spec.containers", ())) + len(sidecars))
    _add_init_containers(summary, pod, sidecars)
    if not summary.is_initializing or formats.is_true(pod, "Initialized"):
        summary.restarts = summary.sidecar_restarts
        _add_containers(summary, pod)
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == _NODE_LOST:
            summary.reason = "Unknown"
        elif status.get("phase") not in _TERMINAL:
            summary.reason = "Terminating"
    return summary


def _sidecars(pod: Object) -> frozenset[str]:
    containers = objects.get(pod, "spec.initContainers", ())
    return frozenset(one.get("name", "") for one in containers if one.get("restartPolicy") == "Always")


def _add_init_containers(summary: _Summary, pod: Object, sidecars: frozenset[str]) -> None:
    count = len(objects.get(pod, "spec.initContainers", ()))
    for number, status in enumerate(objects.get(pod, "status.initContainerStatuses", ())):
        is_sidecar = status.get("name") in sidecars
        summary.restarts.add(status)
        if is_sidecar:
            summary.sidecar_restarts.add(status)
        state = status.get("state") or {}
        terminated = state.get("terminated")
        if terminated is not None and terminated.get("exitCode", 0) == 0:
            continue
        if is_sidecar and status.get("started"):
            summary.ready += bool(status.get("ready"))
            continue
        summary.reason = f"Init:{_init_reason(state) or f'{number}/{count}'}"
        summary.is_initializing = True
        return


def _init_reason(state: Mapping[str, Any]) -> str:
    if (terminated := state.get("terminated")) is not None:
        return _terminated_reason(terminated)
    waiting = (state.get("waiting") or {}).get("reason", "")
    return waiting if waiting != "PodInitializing" else ""


def _terminated_reason(terminated: Mapping[str, Any]) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _add_containers(summary: _Summary, pod: Object) -> None:
    is_any_running, failure = False, ""
    for status in reversed(objects.get(pod, "status.containerStatuses", ())):
        summary.restarts.add(status)
        state = status.get("state") or {}
        terminated, waiting = state.get("terminated"), state.get("waiting") or {}
        if waiting.get("reason"):
            summary.reason = waiting["reason"]
        elif terminated is not None:
            summary.reason = _terminated_reason(terminated)
            if terminated.get("exitCode", 0):
                failure = summary.reason
        elif status.get("ready") and state.get("running") is not None:
            is_any_running = True
            summary.ready += 1
    if summary.reason == "Completed":
        summary.reason = _not_completed(pod, is_any_running=is_any_running, failure=failure)


def _not_completed(pod: Object, *, is_any_running: bool, failure: str) -> str:
    """The word for a pod with completed containers: it depends on the containers that still run."""
    if is_any_running and formats.is_true(pod, "Ready"):
        return "Running"
    return failure or ("NotReady" if is_any_running else "Completed")


def _readiness_gates(pod: Object) -> str:
    gates = objects.get(pod, "spec.readinessGates", ())
    if not gates:
        return NONE
    return f"{sum(formats.is_true(pod, gate.get('conditionType', '')) for gate in gates)}/{len(gates)}"


def _conditions(pod: Object) -> Sequence[Object]:
    phase = objects.get(pod, "status.phase", "")
    if phase not in _COMPLETED:
        return ()
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _COMPLETED[phase]}]


COLUMNS = Columns(_COLUMNS, _cells, _conditions)
