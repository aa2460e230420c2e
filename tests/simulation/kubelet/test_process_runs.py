"""The runs of containers whose commands are local processes."""

from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.kubelet import kubelet, pod_events, process_runs
from aio_apiserver.simulation.kubelet.pod_phases import Life
from aio_apiserver.simulation.kubelet.process_runs import ProcessRun, Runs
from tests.controllers.making import NOW, life, obj


def _pod(policy: str = "Always", **spec: Any) -> Object:
    containers = [{"name": "main", "image": "app", "command": ["serve"]}]
    return {**obj("p"), "spec": {"containers": containers, "restartPolicy": policy, **spec}}


def _life(pod: Object, age: float, **runs: ProcessRun) -> Life:
    return life(pod, age, NOW, "10.1.1.1", "10.2.2.2", runs)


def _shown(life: Life) -> Any:
    return life.status()["containerStatuses"][0]


def _due(life: Life) -> list[str]:
    return [one.container["name"] for one in life.due]


def test_init_containers_run_before_the_others() -> None:
    init = [{"name": "first", "image": "app", "command": ["prepare"]}]
    pod = _pod(initContainers=init)

    assert _due(_life(pod, 0.0)) == ["first"]
    assert _due(_life(pod, 1.0, first=ProcessRun(0, 0.0))) == []
    assert _due(_life(pod, 5.0, first=ProcessRun(0, 0.0, 4.0))) == ["main"]
    assert _due(_life(pod, 5.0, first=ProcessRun(0, 0.0, 4.0, code=1))) == ["first"]


def test_a_failing_command_is_started_at_once_and_then_with_pauses() -> None:
    pod = _pod()
    first, second = ProcessRun(0, 0.0, 2.0, code=1), ProcessRun(1, 2.0, 4.0, code=1)

    assert _due(_life(pod, 2.0, main=first)) == ["main"]
    waiting = _life(pod, 4.0, main=second)
    assert (_due(waiting), waiting.next_look) == ([], 10.0)
    assert _shown(waiting)["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert _shown(waiting)["lastState"]["terminated"]["exitCode"] == 1
    assert _due(_life(pod, 14.0, main=second)) == ["main"]


def test_the_exit_code_decides_about_a_pod_that_does_not_restart() -> None:
    for code, phase, reason in ((0, "Succeeded", "Completed"), (3, "Failed", "Error")):
        life = _life(_pod("Never"), 9.0, main=ProcessRun(0, 0.0, 4.0, code=code))
        ended = _shown(life)["state"]["terminated"]
        assert (life.status()["phase"], ended["exitCode"], ended["reason"]) == (phase, code, reason)
        assert (_due(life), life.is_over) == ([], True)


def test_a_command_that_cannot_start_has_the_reasons_of_a_kubelet() -> None:
    failed = ProcessRun(0, 0.0, 0.0, code=128, failure="no such file")
    never, always = _pod("Never"), _pod()

    shown = _shown(_life(never, 1.0, main=failed))
    assert shown["state"]["terminated"] | {"finishedAt": ""} == {
        "exitCode": 128,
        "reason": "StartError",
        "message": "no such file",
        "startedAt": "1970-01-01T00:00:00Z",
        "finishedAt": "",
        "containerID": shown["containerID"],
    }
    waiting = _shown(_life(always, 1.0, main=failed.after(0.0))) | _shown(_life(always, 1.0, main=failed))
    assert waiting["state"]["waiting"] == {"reason": "RunContainerError", "message": "no such file"}
    assert waiting["lastState"]["terminated"]["reason"] == "StartError"
    events = pod_events.between(never, {}, _life(never, 1.0, main=failed).status())
    assert [(one.reason, one.message) for one in events][-1] == ("Failed", "Error: no such file")


def test_annotations_and_standard_input_keep_a_container_simulated() -> None:
    stated = _pod()
    stated["metadata"]["annotations"] = {"simulate.aio-apiserver/phase": "Running"}
    reading = _pod(containers=[{"name": "main", "image": "busybox", "command": ["true"], "stdin": True}])
    imaged = _pod(containers=[{"name": "main", "image": "nginx", "args": ["-v"]}])

    assert [_due(_life(pod, 0.0)) for pod in (stated, reading, imaged)] == [[], [], []]
    assert _life(reading, 9.0).status()["phase"] == "Running"


def test_processes_of_an_earlier_server_have_ended_with_it() -> None:
    pod = _pod()
    status = _life(pod, 0.0, main=ProcessRun(2, 0.0)).status()

    runs: Runs = process_runs.shown_in(status, 50.0)

    assert runs == {"main": ProcessRun(2, 50.0, 50.0, code=255)}
    crashed = _life(pod, 4.0, main=ProcessRun(1, 2.0, 4.0, code=7)).status()
    assert process_runs.shown_in(crashed, 50.0) == {"main": ProcessRun(1, 50.0, 50.0, code=7)}


def test_a_deleted_pod_that_is_held_has_the_exit_codes_of_its_processes() -> None:
    status = _life(_pod(), 0.0, main=ProcessRun(0, 0.0)).status()

    ended = [kubelet.killed(status, now=NOW, codes={"main": code}) for code in (0, 143)]

    assert [one["phase"] for one in ended] == ["Succeeded", "Failed"]
    assert [one["containerStatuses"][0]["state"]["terminated"]["exitCode"] for one in ended] == [0, 143]
