"""Rollout status: the status of a Deployment: replicas, availability and progress.

Pure.
"""

from collections.abc import Sequence

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import seconds
from aio_apiserver.controllers.workloads.rollouts import max_unavailable, replicas, reported, total
from aio_apiserver.registry.base import conditions

_NO_DEADLINE = 2**31 - 1
_AVAILABLE = "NewReplicaSetAvailable"
_PAUSED = "DeploymentPaused"
_TIMED_OUT = "ProgressDeadlineExceeded"


class RolloutProgress(Struct, frozen=True):
    """The facts for the status of a deployment."""

    deployment: Object
    new: Object | None
    old: Sequence[Object]
    now: float
    shown: str
    """The time `now` as a timestamp."""

    @property
    def deadline(self) -> int | None:
        value = self.deployment["spec"].get("progressDeadlineSeconds")
        return None if value is None or value >= _NO_DEADLINE else int(value)

    def status(self, *, is_observing: bool) -> Object:
        """The status. `is_observing`: also judge the progress of the rollout."""
        before = self.deployment.get("status") or {}
        status = self._counts()
        status["conditions"] = [dict(one) for one in before.get("conditions") or ()]
        if "collisionCount" in before:
            status["collisionCount"] = before["collisionCount"]
        self._report_availability(status)
        if self.deadline is None:
            conditions.remove(status, "Progressing")
        else:
            self._report_pause(status)
            if is_observing:
                self._report_progress(status, before)
        self._report_failure(status)
        return status

    def _counts(self) -> Object:
        new = [self.new] if self.new is not None else []
        sets = [*self.old, *new]
        available = reported(sets, "availableReplicas")
        counts = {
            "replicas": reported(sets, "replicas"),
            "updatedReplicas": reported(new, "replicas"),
            "readyReplicas": reported(sets, "readyReplicas"),
            "availableReplicas": available,
            "unavailableReplicas": max(0, total(sets) - available),
        }
        result: Object = {"observedGeneration": self.deployment["metadata"].get("generation", 0)}
        result.update({name: number for name, number in counts.items() if number})
        if any("terminatingReplicas" in (one.get("status") or {}) for one in sets):
            result["terminatingReplicas"] = reported(sets, "terminatingReplicas")
        return result

    def _put(self, status: Object, kind: str, value: str, reason: str, message: str) -> None:
        conditions.report(
            status, kind, value, now=self.shown, reason=reason, message=message, lastUpdateTime=self.shown
        )

    def _report_availability(self, status: Object) -> None:
        least = replicas(self.deployment) - max_unavailable(self.deployment)
        if status.get("availableReplicas", 0) >= least:
            text = "Deployment has minimum availability."
            self._put(status, "Available", "True", "MinimumReplicasAvailable", text)
        else:
            text = "Deployment does not have minimum availability."
            self._put(status, "Available", "False", "MinimumReplicasUnavailable", text)

    def _report_pause(self, status: Object) -> None:
        reason = (conditions.find(status, "Progressing") or {}).get("reason")
        is_paused = bool(self.deployment["spec"].get("paused"))
        if is_paused and reason not in (_PAUSED, _TIMED_OUT):
            self._put(status, "Progressing", "Unknown", _PAUSED, "Deployment is paused")
        elif not is_paused and reason == _PAUSED:
            self._put(status, "Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed")

    def _report_progress(self, status: Object, before: Object) -> None:
        present = conditions.find(status, "Progressing")
        is_settled = status.get("replicas", 0) == status.get("updatedReplicas", 0)
        if is_settled and present is not None and present.get("reason") == _AVAILABLE:
            return
        if self.is_complete(status):
            self._put(status, "Progressing", "True", _AVAILABLE, f"{self._subject} has successfully progressed.")
        elif _has_progressed(status, before):
            text = f"{self._subject} is progressing."
            since = present["lastTransitionTime"] if present and present["status"] == "True" else self.shown
            conditions.remove(status, "Progressing")
            status.setdefault("conditions", [])
            self._put(status, "Progressing", "True", "ReplicaSetUpdated", text)
            status["conditions"][-1]["lastTransitionTime"] = since
        elif self._is_late(present):
            self._put(status, "Progressing", "False", _TIMED_OUT, f"{self._subject} has timed out progressing.")

    @property
    def _subject(self) -> str:
        if self.new is not None:
            return f'ReplicaSet "{self.new["metadata"]["name"]}"'
        return f'Deployment "{self.deployment["metadata"]["name"]}"'

    def is_complete(self, status: Object) -> bool:
        wanted = replicas(self.deployment)
        names = ("updatedReplicas", "replicas", "availableReplicas")
        return all(status.get(name, 0) == wanted for name in names)

    def _is_late(self, present: Object | None) -> bool:
        if present is None or present.get("reason") == _AVAILABLE:
            return False
        return present.get("reason") == _TIMED_OUT or self.seconds_left(present) < 0

    def seconds_left(self, present: Object) -> float:
        """The seconds until the progress deadline."""
        assert self.deadline is not None
        since = present.get("lastUpdateTime") or present["lastTransitionTime"]
        return seconds(since) + self.deadline - self.now

    def _report_failure(self, status: Object) -> None:
        sets = [self.new, *self.old] if self.new is not None else list(self.old)
        for one in sets:
            failure = conditions.find(one.get("status") or {}, "ReplicaFailure")
            if failure is not None:
                self._put(
                    status, "ReplicaFailure", failure["status"], failure.get("reason", ""), failure.get("message", "")
                )
                return
        conditions.remove(status, "ReplicaFailure")


def _has_progressed(status: Object, before: Object) -> bool:
    def old_pods(one: Object) -> int:
        return int(one.get("replicas", 0)) - int(one.get("updatedReplicas", 0))

    grown = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return old_pods(status) < old_pods(before) or any(status.get(name, 0) > before.get(name, 0) for name in grown)
