"""Pod events: the events of a kubelet for the changes of a pod's status.

Pure.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.containers.answers import ProgramAnswer
from aio_apiserver.simulation.kubelet import ephemeral_containers
from aio_apiserver.simulation.kubelet.exec_probes import ExecProbe
from aio_apiserver.simulation.kubelet.process_runs import START_ERROR

_LISTS = (
    ("initContainers", "initContainerStatuses"),
    ("containers", "containerStatuses"),
    (ephemeral_containers.MEMBER, ephemeral_containers.STATUSES),
)


class PodEvent(Struct, frozen=True):
    """One event. `field_path`: of its container."""

    reason: str
    message: str
    field_path: str
    is_warning: bool = False


def between(pod: Object, before: Object, after: Object) -> Sequence[PodEvent]:
    """The events for the change from one status to the next."""
    return [
        event
        for member, statuses in _LISTS
        for container in pod["spec"].get(member) or ()
        for event in _of_container(
            pod,
            container,
            f"spec.{member}{{{container['name']}}}",
            _container_status(before, statuses, container),
            _container_status(after, statuses, container),
        )
    ]


def ending(pod: Object) -> Sequence[PodEvent]:
    """The events for a pod that is being stopped."""
    running = {one["name"] for one in (pod.get("status") or {}).get("containerStatuses") or () if _is(one, "running")}
    return [
        PodEvent("Killing", f"Stopping container {name}", f"spec.containers{{{name}}}")
        for name in (container["name"] for container in pod["spec"]["containers"])
        if name in running
    ]


def unhealthy(container: Object, probe: ExecProbe, answer: ProgramAnswer, *, is_init: bool) -> PodEvent:
    """The event for a failed probe."""
    output = answer.output
    if answer.code is None:
        output = f'command timed out: "{" ".join(probe.command)}" timed out after {probe.timeout:g}s'
    text = f"{probe.kind.capitalize()} probe failed: {output}"
    return PodEvent("Unhealthy", text, _path(container, is_init=is_init), is_warning=True)


def killing(container: Object, probe: ExecProbe, *, is_init: bool, again: bool) -> PodEvent:
    """The event for a container that ends since a probe has failed. again: whether it is restarted."""
    text = f"Container {container['name']} failed {probe.kind} probe" + (", will be restarted" if again else "")
    return PodEvent("Killing", text, _path(container, is_init=is_init))


def _path(container: Object, *, is_init: bool) -> str:
    """The field path of a container."""
    return f"spec.{'initContainers' if is_init else 'containers'}{{{container['name']}}}"


def _container_status(status: Object, member: str, container: Object) -> Object:
    return next((one for one in status.get(member) or () if one["name"] == container["name"]), {})


def _is(shown: Object, state: str) -> bool:
    return state in (shown.get("state") or {})


def _waits(shown: Object) -> str:
    """The waiting reason of a container."""
    return str(((shown.get("state") or {}).get("waiting") or {}).get("reason", ""))


def _has_started(before: Object, after: Object) -> bool:
    """Whether a container was started, for the first time or again."""
    return bool(after.get("containerID")) and after["containerID"] != before.get("containerID")


def _failure(shown: Object) -> str:
    """Why the newest run could not start its program."""
    states = (shown.get("state") or {}, shown.get("lastState") or {})
    for ended in (state.get("terminated") or {} for state in states):
        if ended.get("reason") == START_ERROR and ended["containerID"] == shown["containerID"]:
            return str(ended["message"])
    return ""


def _of_container(pod: Object, container: Object, path: str, before: Object, after: Object) -> Iterator[PodEvent]:
    image, name = container.get("image", ""), container["name"]
    if _waits(after) == "ImagePullBackOff" != _waits(before):
        yield PodEvent("Pulling", f'Pulling image "{image}"', path)
        yield PodEvent("Failed", f'Failed to pull image "{image}": it is told not to be found', path, True)
        yield PodEvent("Failed", "Error: ErrImagePull", path, True)
        yield PodEvent("BackOff", f'Back-off pulling image "{image}"', path)
        yield PodEvent("Failed", "Error: ImagePullBackOff", path, True)
    if _has_started(before, after):
        yield PodEvent(
            "Pulled", f'Container image "{image}" already present on machine and can be accessed by the pod', path
        )
        yield PodEvent("Created", "Container created", path)
        failure = _failure(after)
        started = PodEvent("Started", "Container started", path)
        yield PodEvent("Failed", f"Error: {failure}", path, True) if failure else started
    if _waits(after) == "CrashLoopBackOff" != _waits(before):
        metadata = pod["metadata"]
        where = f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"
        yield PodEvent("BackOff", f"Back-off restarting failed container {name} in pod {where}", path, True)
