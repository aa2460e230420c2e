"""Pod phases: the status of a simulated pod over time, by the rules in its annotations.

Pure. The annotations have the prefix `simulate.aio-apiserver/`, and durations such as 3s:

- `phase`: the last state: Running, Succeeded, Failed, CrashLoopBackOff, ImagePullBackOff, Pending or NotReady. The
  default is Running, or Succeeded for pods that do not restart.
- `delay`: the time before the pod starts.
- `run`: the time that it runs before it succeeds or fails.
- `stop`: the time that it takes to stop.
- `exit-code`: of containers that fail; the default is 1.
"""

from typing import Any

from msgspec import Struct

from aio_apiserver.controllers.decisions.annotations import PREFIX, duration
from aio_apiserver.registry.groups.core import pod_conditions
from aio_apiserver.storage.stored_object import Object

_ENDS = ("Succeeded", "Failed")
_IMAGE_ID = "docker.io/library/simulated@sha256:" + "0" * 64


class PhaseRules(Struct, frozen=True):
    """The rules in a pod's annotations. Times are in seconds."""

    phase: str
    delay: float
    run: float
    stop: float
    exit_code: int


def rules_of(pod: Object) -> PhaseRules:
    """The rules of a pod. Invalid annotations count as missing."""
    annotations = pod["metadata"].get("annotations") or {}
    usual = "Running" if pod["spec"].get("restartPolicy", "Always") == "Always" else "Succeeded"
    delay, run, stop = (duration(annotations.get(PREFIX + name, "")) for name in ("delay", "run", "stop"))
    code = annotations.get(PREFIX + "exit-code", "")
    return PhaseRules(
        annotations.get(PREFIX + "phase") or usual, delay, run, stop, int(code) if code.isdecimal() else 1
    )


class Life(Struct, frozen=True):
    """A pod on a node, `age` seconds after the kubelet first saw it."""

    pod: Object
    age: float
    now: str
    host: str
    """The address of the node."""
    address: str
    """The address for the pod."""

    @property
    def next_look(self) -> float | None:
        """The seconds until the status changes by time; None when it does not."""
        rules = rules_of(self.pod)
        turns = [rules.delay, rules.delay + rules.run if rules.phase in _ENDS else 0.0]
        return min((turn - self.age for turn in turns if turn > self.age), default=None)

    def status(self) -> Object:
        """The present status of the pod."""
        rules, before = rules_of(self.pod), self.pod.get("status") or {}
        state = self._state(rules)
        status: Object = {**before, "phase": _PHASES.get(state, state), "hostIP": self.host}
        status["hostIPs"] = [{"ip": self.host}]
        status.setdefault("startTime", self.now)
        if state not in ("Pending", "ImagePullBackOff"):
            status["podIP"] = before.get("podIP") or self.address
            status["podIPs"] = [{"ip": status["podIP"]}]
        status["conditions"] = [dict(one) for one in before.get("conditions") or ()]
        self._report_conditions(status, state)
        self._report_containers(status, state)
        return status

    def _state(self, rules: PhaseRules) -> str:
        if self.age < rules.delay:
            return "Pending"
        if rules.phase in _ENDS and self.age < rules.delay + rules.run:
            return "Running"
        return rules.phase

    def _report_conditions(self, status: Object, state: str) -> None:
        is_up = state not in ("Pending", "ImagePullBackOff")
        why = {"reason": "PodCompleted"} if state == "Succeeded" else {"reason": "PodFailed"}
        why = why if state in _ENDS else {"reason": "ContainersNotReady"}
        is_ready = state == "Running"
        gates = [gate["conditionType"] for gate in self.pod["spec"].get("readinessGates") or ()]
        passed = {one["type"] for one in status["conditions"] if one.get("status") == "True"}
        result: tuple[tuple[str, bool, dict[str, str]], ...] = (
            ("PodReadyToStartContainers", is_up and state not in _ENDS, {}),
            ("Initialized", is_up or not self.pod["spec"].get("initContainers"), {}),
            ("Ready", is_ready and passed.issuperset(gates), why),
            ("ContainersReady", is_ready, why),
            ("PodScheduled", True, {}),
        )
        for kind, is_true, reason in result:
            condition: dict[str, Any] = {"type": kind, "status": "True" if is_true else "False"}
            pod_conditions.put(status, condition if is_true else {**condition, **reason}, now=self.now)

    def _report_containers(self, status: Object, state: str) -> None:
        spec = self.pod["spec"]
        lists = (("containerStatuses", "containers", state), ("initContainerStatuses", "initContainers", "Succeeded"))
        for name, member, one_state in lists:
            before = {one["name"]: one for one in status.get(name) or ()}
            shown = "Pending" if state in ("Pending", "ImagePullBackOff") and member == "initContainers" else one_state
            result = [self._container(one, shown, before.get(one["name"]) or {}) for one in spec.get(member) or ()]
            if result:
                status[name] = result

    def _container(self, container: Object, state: str, before: Object) -> Object:
        name = container["name"]
        container_id = f"simulated://{self.pod['metadata']['uid']}-{name}"
        result: Object = {"name": name, "image": container.get("image", ""), "imageID": "", "ready": False}
        result.update({"started": False, "restartCount": before.get("restartCount", 0), "lastState": {}})
        if state in ("Pending", "ImagePullBackOff"):
            reason = "ContainerCreating" if state == "Pending" else state
            return {**result, "state": {"waiting": {"reason": reason}}}
        result.update({"imageID": _IMAGE_ID, "containerID": container_id})
        started = self._since(before, "running", "startedAt")
        if state in _ENDS:
            ended = self._ended(state, started, self._since(before, "terminated", "finishedAt"), container_id)
            return {**result, "ready": state == "Succeeded" and not before.get("ready"), "state": {"terminated": ended}}
        if state == "CrashLoopBackOff":
            waiting = {"reason": state, "message": f"back-off restarting failed container {name}"}
            ended = before.get("lastState") or {"terminated": self._ended("Failed", started, self.now, container_id)}
            return {
                **result,
                "restartCount": max(1, result["restartCount"]),
                "state": {"waiting": waiting},
                "lastState": ended,
            }
        is_ready = state == "Running"
        return {**result, "ready": is_ready, "started": True, "state": {"running": {"startedAt": started}}}

    def _ended(self, state: str, started: str, finished: str, container_id: str) -> Object:
        is_fine = state == "Succeeded"
        return {
            "exitCode": 0 if is_fine else rules_of(self.pod).exit_code,
            "reason": "Completed" if is_fine else "Error",
            "startedAt": started,
            "finishedAt": finished,
            "containerID": container_id,
        }

    def _since(self, before: Object, state: str, member: str) -> str:
        shown = before.get("state") or {}
        times = shown.get(state) or shown.get("terminated") or {}
        return str(times.get(member) or self.now)


_PHASES = {"CrashLoopBackOff": "Running", "NotReady": "Running", "ImagePullBackOff": "Pending"}
