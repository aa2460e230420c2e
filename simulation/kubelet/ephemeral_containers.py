"""ephemeral_containers: the status of the containers that `kubectl debug` adds to a simulated pod.

Pure. Such a container starts as soon as the pod runs, ends as its command says, and is not restarted. It does not count
for the phase of the pod.
"""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import seconds
from aio_apiserver.simulation.containers.courses import ENDLESS, Course, course_of
from aio_apiserver.simulation.kubelet.container_runs import RUNNING, TERMINATED, ContainerRun
from aio_apiserver.simulation.kubelet.container_statuses import Shown
from aio_apiserver.simulation.model.container_contents import with_fields

MEMBER, STATUSES = "ephemeralContainers", "ephemeralContainerStatuses"


def statuses(pod: Object, now: str) -> Sequence[Object]:
    """The statuses of all ephemeral containers."""
    return [_status(pod, one, now) for one in pod["spec"].get(MEMBER) or ()]


def next_end(pod: Object, now: str) -> float | None:
    """The seconds until one of them ends; None when none does."""
    rest = [_rest(pod, one, now) for one in pod["spec"].get(MEMBER) or ()]
    return min((one for one in rest if 0 < one < float("inf")), default=None)


def _status(pod: Object, container: Object, now: str) -> Object:
    before, course = _before(pod, container), _course(pod, container)
    if "terminated" in (before.get("state") or {}):
        return before
    state = RUNNING if _rest(pod, container, now) > 0 else TERMINATED
    run = ContainerRun(state, 0, 0.0, None)
    return Shown(container, pod["metadata"]["uid"], now, before, run, course.code, is_ready=False).status()


def _rest(pod: Object, container: Object, now: str) -> float:
    """The seconds that a container still runs."""
    running = (_before(pod, container).get("state") or {}).get("running") or {"startedAt": now}
    return _course(pod, container).seconds - (seconds(now) - seconds(running["startedAt"]))


def _course(pod: Object, container: Object) -> Course:
    return course_of(with_fields(pod, container)) or ENDLESS


def _before(pod: Object, container: Object) -> Object:
    known = (pod.get("status") or {}).get(STATUSES) or ()
    return next((one for one in known if one["name"] == container["name"]), {})
