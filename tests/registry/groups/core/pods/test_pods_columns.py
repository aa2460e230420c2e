from typing import Any

import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.groups.core.pods.pods_columns import COLUMNS
from tests.registry.machinery.printing.rows import CREATED, cells_of

RUNNING: Object = {"ready": True, "state": {"running": {}}}
DONE: Object = {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
READY = {"type": "Ready", "status": "True"}


def pod(*containers: Object, phase: str = "Running", metadata: Object | None = None, **status: Any) -> Object:
    names = [{"name": f"c{number}"} for number in range(len(containers) or 1)]
    statuses = [{**name, **container} for name, container in zip(names, containers, strict=False)]
    return {
        "metadata": metadata or {},
        "spec": {"containers": names},
        "status": {"phase": phase, "containerStatuses": statuses, **status},
    }


def initializing(*containers: Object, sidecars: int = 0, **status: Any) -> Object:
    """A pod whose last init containers are sidecars."""
    names = [{"name": f"i{number}"} for number in range(len(containers))]
    for name in names[len(names) - sidecars :]:
        name["restartPolicy"] = "Always"
    shown = pod(phase="Pending", **status)
    shown["spec"]["initContainers"] = names
    statuses = [{"name": name["name"], **container} for name, container in zip(names, containers, strict=True)]
    shown["status"]["initContainerStatuses"] = statuses
    return shown


@pytest.mark.parametrize(
    ("shown", "ready", "status"),
    [
        (pod(phase="Pending"), "0/1", "Pending"),
        (pod(RUNNING, RUNNING), "2/2", "Running"),
        (pod(RUNNING, {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}), "1/2", "CrashLoopBackOff"),
        (pod({"state": {"waiting": {}}}), "0/1", "Running"),
        (pod({"state": {"terminated": {"exitCode": 3}}}, phase="Failed"), "0/1", "ExitCode:3"),
        (pod({"state": {"terminated": {"exitCode": 137, "signal": 9}}}), "0/1", "Signal:9"),
        (pod({"state": {"terminated": {"exitCode": 1, "reason": "OOMKilled"}}}), "0/1", "OOMKilled"),
        (pod(DONE, RUNNING), "1/2", "NotReady"),
        (pod(DONE, RUNNING, conditions=[READY]), "1/2", "Running"),
        (pod(DONE, {"state": {"terminated": {"exitCode": 1, "reason": "Error"}}}), "0/2", "Error"),
        (pod(phase="Failed", reason="Evicted"), "0/1", "Evicted"),
        (
            pod(phase="Pending", conditions=[{"type": "PodScheduled", "reason": "SchedulingGated"}]),
            "0/1",
            "SchedulingGated",
        ),
        (pod(RUNNING, metadata={"deletionTimestamp": CREATED}), "1/1", "Terminating"),
        (pod(RUNNING, metadata={"deletionTimestamp": CREATED}, reason="NodeLost"), "1/1", "Unknown"),
        (pod(DONE, phase="Succeeded", metadata={"deletionTimestamp": CREATED}), "0/1", "Completed"),
    ],
)
def test_the_status_column_summarizes_all_containers(shown: Object, ready: str, status: str) -> None:
    cells = cells_of("", "Pod", shown)

    assert (cells["Ready"], cells["Status"]) == (ready, status)


@pytest.mark.parametrize(
    ("shown", "ready", "status"),
    [
        (initializing({"state": {"running": {}}}), "0/1", "Init:0/1"),
        (initializing(DONE, {"state": {"waiting": {"reason": "PodInitializing"}}}), "0/1", "Init:1/2"),
        (initializing({"state": {"waiting": {"reason": "ErrImagePull"}}}), "0/1", "Init:ErrImagePull"),
        (initializing({"state": {"terminated": {"exitCode": 2}}}), "0/1", "Init:ExitCode:2"),
        (initializing({"state": {"terminated": {"exitCode": 2, "signal": 15}}}), "0/1", "Init:Signal:15"),
        (initializing({"state": {"terminated": {"exitCode": 2, "reason": "Error"}}}), "0/1", "Init:Error"),
        (initializing(DONE, DONE), "0/1", "Pending"),
        (initializing({"started": True, "ready": True, "state": {"running": {}}}, sidecars=1), "1/2", "Pending"),
        (initializing({"state": {"running": {}}}, sidecars=1), "0/2", "Init:0/1"),
    ],
)
def test_the_status_shows_the_first_init_container_that_is_not_done(shown: Object, ready: str, status: str) -> None:
    cells = cells_of("", "Pod", shown)

    assert (cells["Ready"], cells["Status"]) == (ready, status)


def test_restarts_show_the_time_of_the_last_one() -> None:
    early = {"terminated": {"finishedAt": "2023-11-14T22:13:20Z"}}
    late = {"terminated": {"finishedAt": "2023-11-14T22:14:20Z"}}

    cells = cells_of(
        "", "Pod", pod({**RUNNING, "restartCount": 2, "lastState": late}, {"restartCount": 1, "lastState": early})
    )

    assert cells["Restarts"] == "3 (40s ago)"


def test_restarts_of_init_containers_count_while_they_run() -> None:
    status = {"restartCount": 4, "state": {"running": {}}}

    assert cells_of("", "Pod", initializing(status))["Restarts"] == "4"
    assert cells_of("", "Pod", initializing({**status, **DONE}))["Restarts"] == "0"


def test_wide_columns_show_the_node_of_a_pod() -> None:
    shown = pod(RUNNING, podIPs=[{"ip": "10.0.0.1"}, {"ip": "::1"}], conditions=[{"type": "g1", "status": "True"}])
    shown["spec"] |= {"nodeName": "n1", "readinessGates": [{"conditionType": "g1"}, {"conditionType": "g2"}]}

    cells = cells_of("", "Pod", shown)

    assert [cells[name] for name in ("IP", "Node", "Nominated Node", "Readiness Gates")] == [
        "10.0.0.1",
        "n1",
        "<none>",
        "1/2",
    ]


@pytest.mark.parametrize(("phase", "conditions"), [("Succeeded", 1), ("Failed", 1), ("Running", 0)])
def test_rows_of_finished_pods_have_a_condition(phase: str, conditions: int) -> None:
    found = COLUMNS.conditions(pod(phase=phase))

    assert [one["reason"] for one in found] == [phase] * conditions
