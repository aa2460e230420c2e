"""ephemeral_containers: the status of the containers that `kubectl debug` adds to a simulated pod.

Pure. Such a container starts as soon as the pod runs, ends as its command says, and is not restarted. It does not count
for the phase of the pod.
"""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import seconds
from aio_apiserver.simulation.containers.courses import ENDLESS, Course
from aio_apiserver.simulation.kubelet.container_runs import RUNNING, TERMINATED, ContainerRun
from aio_apiserver.simulation.kubelet.container_statuses import Shown
from aio_apiserver.simulation.kubelet.pod_courses import Courses

MEMBER, STATUSES = "ephemeralContainers", "ephemeralContainerStatuses"


def statuses(pod: Object, now: str, courses: Courses) -> Sequence[Object]:
    """The statuses of all ephemeral containers."""
    before = _before(pod)
    return [_status(pod, one, before.get(one["name"], {}), now, courses) for one in pod["spec"].get(MEMBER) or ()]


def next_end(pod: Object, now: str, courses: Courses) -> float | None:
    """The seconds until one of them ends; None when none does."""
    before = _before(pod)
    rest = [_rest(_course(one, courses), before.get(one["name"], {}), now) for one in pod["spec"].get(MEMBER) or ()]
    return min((one for one in rest if 0 < one < float("inf")), default=None)


def _status(pod: Object, container: Object, before: Object, now: str, courses: Courses) -> Object:
    if "terminated" in (before.get("state") or {}):
        return before
    course = _course(container, courses)
    run = ContainerRun(RUNNING if _rest(course, before, now) > 0 else TERMINATED, 0, 0.0, None)
    uid = pod["metadata"]["uid"]
    return Shown(container, uid, now, before, run, course.code, is_ready=False, reason=course.reason).status()


def _rest(course: Course, before: Object, now: str) -> float:
    """The seconds that a container still runs."""
    running = (before.get("state") or {}).get("running") or {"startedAt": now}
    return course.seconds - (seconds(now) - seconds(running["startedAt"]))


def _course(container: Object, courses: Courses) -> Course:
    return courses.get(container["name"]) or ENDLESS


def _before(pod: Object) -> dict[str, Object]:
    """The statuses that were reported before, by name."""
    return {one["name"]: one for one in (pod.get("status") or {}).get(STATUSES) or ()}
