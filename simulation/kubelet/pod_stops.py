"""pod_stops: how long the containers of a simulated pod take to stop, and how they end.

Pure. A container that does not trap SIGTERM stops at once.
"""

from collections.abc import Mapping

from aio_apiserver.base.budget import Budget
from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.containers import stops
from aio_apiserver.simulation.containers.courses import Course
from aio_apiserver.simulation.kubelet.pod_courses import rules_of
from aio_apiserver.simulation.model.container_contents import with_fields

KILLED = 137
"""The exit code of a container that the kubelet has killed."""


def of_container(pod: Object, container: Object, grace: float, budget: Budget) -> Course:
    """The seconds that a container takes to stop within its grace period, and its exit code. Raises BudgetExceeded."""
    stop = stops.stop_of(with_fields(pod, container), budget)
    if stop is None:
        return Course(0.0, KILLED)
    return stop if stop.seconds <= grace else Course(grace, KILLED)


def of_pod(pod: Object, grace: float, budget: Budget) -> Mapping[str, Course]:
    """How the running containers of a pod stop that is deleted with a grace period, by name. Raises BudgetExceeded.

    A pod whose annotations say what it does has no traps.
    """
    if rules_of(pod).simulates:
        return {}
    shown = (pod.get("status") or {}).get("containerStatuses") or ()
    running = {one["name"] for one in shown if "running" in (one.get("state") or {})}
    every = [one for one in pod["spec"]["containers"] if one["name"] in running]
    return {one["name"]: of_container(pod, one, grace, budget) for one in every}


def seconds(pod: Object, courses: Mapping[str, Course], grace: float) -> float:
    """The seconds that a pod takes to stop. Its annotation `stop` comes first."""
    longest = max((one.seconds for one in courses.values()), default=0.0)
    return min(rules_of(pod).stop or longest, grace)
