"""Container statuses: how the status of a simulated pod shows its containers.

Pure. Must hold: a state that goes on keeps its times, so that the same state is written once.
"""

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.kubelet.container_runs import RUNNING, TERMINATED, WAITING, ContainerRun
from aio_apiserver.simulation.kubelet.process_runs import NOT_CREATED_CODE, START_ERROR

_NEVER = "1970-01-01T00:00:00Z"
_RETRIED_AT_ONCE = 1
_IMAGE_ID = "docker.io/library/simulated@sha256:" + "0" * 64


class Shown(Struct, frozen=True):
    """A container with its state. `before`: the status that it had; `waits`: why it has not started.

    `code`: the exit code of the last run that has ended.
    """

    container: Object
    uid: str
    now: str
    before: Object
    run: ContainerRun | None
    code: int
    waits: str = ""
    is_init: bool = False
    is_ready: bool = True
    has_started: bool = True
    failure: str = ""
    """Why the program of the last run could not start."""
    reason: str = ""
    """Why the program of the last run was killed."""

    def status(self) -> Object:
        """The status of the container."""
        name = self.container["name"]
        result: Object = {"name": name, "image": self.container.get("image", ""), "imageID": "", "ready": False}
        result.update({"started": False, "restartCount": self.before.get("restartCount", 0), "lastState": {}})
        if self.run is None:
            return {**result, "state": {"waiting": {"reason": self.waits}}}
        count = self.run.restarts
        result.update({"imageID": _IMAGE_ID, "containerID": self._container_id(count), "restartCount": count})
        last = count if self.run.state == WAITING else count - 1
        if last >= 0:
            result["lastState"] = self._last_state(last)
        return {**result, **self._state()}

    def _state(self) -> Object:
        assert self.run is not None
        if self.run.state == RUNNING:
            state: Object = {"running": {"startedAt": self._since(self.run.restarts, "startedAt")}}
            return {"ready": self.is_ready, "started": self.has_started, "state": state}
        if self.run.state == TERMINATED:
            return {"ready": self.is_init and self.code == 0, "state": {"terminated": self._ended(self.run.restarts)}}
        if self.failure and self.run.restarts <= _RETRIED_AT_ONCE:
            return {"state": {"waiting": {"reason": "RunContainerError", "message": self.failure}}}
        message = f"back-off restarting failed container {self.container['name']}"
        return {"state": {"waiting": {"reason": "CrashLoopBackOff", "message": message}}}

    def _last_state(self, last: int) -> Object:
        """How the run with this number ended."""
        shown: Object = self.before.get("lastState") or {}
        if (shown.get("terminated") or {}).get("containerID") == self._container_id(last):
            return shown
        return {"terminated": self._ended(last)}

    def _ended(self, number: int) -> Object:
        ended = {"finishedAt": self._since(number, "finishedAt"), "containerID": self._container_id(number)}
        if self.failure:
            failed = {"exitCode": NOT_CREATED_CODE, "reason": START_ERROR, "message": self.failure}
            return {**failed, "startedAt": _NEVER, **ended}
        reason = "Completed" if self.code == 0 else self.reason or "Error"
        return {"exitCode": self.code, "reason": reason, "startedAt": self._since(number, "startedAt"), **ended}

    def _since(self, number: int, member: str) -> str:
        """A time that was shown before for the run with this number, or else the present one."""
        shown = self.before.get("state") or {}
        times = shown.get("running") or shown.get("terminated") or {}
        is_same = self.before.get("containerID") == self._container_id(number)
        return str((times.get(member) if is_same else "") or self.now)

    def _container_id(self, number: int) -> str:
        return f"simulated://{self.uid}-{self.container['name']}" + (f"-{number}" if number else "")
