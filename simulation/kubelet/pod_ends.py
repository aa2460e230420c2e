"""Pod ends: the last status of a simulated pod that is deleted while its containers run.

Pure. Owners that hold the pod with a finalizer, as Jobs do, count it by this status.
"""

from collections.abc import Mapping

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.groups.core.pods import pod_conditions
from aio_apiserver.simulation.kubelet.pod_stops import KILLED

_NO_CODES: Mapping[str, int] = {}


def killed(status: Object, *, now: str, codes: Mapping[str, int] = _NO_CODES) -> Object:
    """The status after the kubelet has ended the containers that run. codes: those of containers, by name."""
    result: Object = {**status, "phase": "Failed", "conditions": [dict(one) for one in status.get("conditions") or ()]}
    for kind in ("Ready", "ContainersReady"):
        pod_conditions.put(result, {"type": kind, "status": "False", "reason": "PodFailed"}, now=now)
    for name in ("containerStatuses", "initContainerStatuses"):
        if status.get(name):
            result[name] = [_ended(one, now, codes.get(one["name"], KILLED)) for one in status[name]]
    if codes and all(_has_succeeded(one) for one in result.get("containerStatuses") or ()):
        result["phase"] = "Succeeded"
    return result


def _has_succeeded(container: Object) -> bool:
    return bool((container["state"].get("terminated") or {}).get("exitCode") == 0)


def _ended(container: Object, now: str, code: int) -> Object:
    running = (container.get("state") or {}).get("running")
    if running is None:
        return container
    reason = "Error" if code else "Completed"
    ended = {"exitCode": code, "reason": reason, "startedAt": running["startedAt"], "finishedAt": now}
    shown = {**ended, "containerID": container["containerID"]} if container.get("containerID") else ended
    return {**container, "ready": False, "started": False, "state": {"terminated": shown}}
