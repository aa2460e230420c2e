"""What the results of exec probes decide about a container."""

from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.kubelet import exec_probes
from aio_apiserver.simulation.kubelet.exec_probes import ProbedRun
from aio_apiserver.simulation.kubelet.pod_phases import Life
from aio_apiserver.simulation.kubelet.process_runs import ProcessRun
from tests.controllers.making import NOW, life, obj


def _container(**probes: Any) -> Object:
    given = {f"{kind}Probe": {"exec": {"command": ["check"]}, **rules} for kind, rules in probes.items()}
    return {"name": "main", "image": "nginx", **given}


def _begun(**probes: Any) -> ProbedRun:
    return ProbedRun({one.kind: one for one in exec_probes.of(_container(**probes))}).begun(0, 0.0)


def _after(run: ProbedRun, *results: bool) -> ProbedRun:
    """A run with results of the probes that are due, each at its time."""
    for has_passed in results:
        age = run.next_due
        probe = run.due(age)
        assert probe is not None
        run = run.after(probe, age, has_passed=has_passed)
    return run


def _life(container: Object, age: float, probed: ProbedRun, status: Object | None = None) -> Life:
    pod = {**obj("p"), "spec": {"containers": [container], "restartPolicy": "Always"}, "status": status or {}}
    return life(pod, age, NOW, "10.1.1.1", "10.2.2.2", None, {"main": probed})


def test_results_count_when_there_are_enough_in_a_row() -> None:
    run = _begun(readiness={"successThreshold": 2, "failureThreshold": 3, "periodSeconds": 5})

    assert not _after(run, True, False, True).is_ready
    ready = _after(run, True, True)
    assert (ready.is_ready, ready.next_due) == (True, 10.0)
    assert _after(ready, False, False).is_ready
    assert not _after(ready, False, False, False).is_ready


def test_only_the_startup_and_liveness_probes_end_a_container() -> None:
    for kind, ends in (("startup", True), ("liveness", True), ("readiness", False)):
        failed = _after(_begun(**{kind: {"failureThreshold": 1}}), False)
        assert failed.failed == (kind if ends else "")
        assert (failed.next_due == float("inf")) == ends


def test_a_late_probe_is_carried_out_once() -> None:
    run = _begun(readiness={"periodSeconds": 5})
    probe = run.due(100.0)
    assert probe is not None

    assert run.after(probe, 100.0, has_passed=True).next_due == 105.0


def test_a_container_that_was_ended_starts_again_after_growing_pauses() -> None:
    container = _container(liveness={})
    first = ProbedRun({}).ended(ProcessRun(0, 0.0, 20.0, 137))
    second = ProbedRun({}).ended(ProcessRun(1, 20.0, 50.0, 137))

    (again,) = _life(container, 20.0, first).status()["containerStatuses"]
    assert (again["restartCount"], again["lastState"]["terminated"]["exitCode"]) == (1, 137)
    waiting = _life(container, 50.0, second)
    (shown,) = waiting.status()["containerStatuses"]
    assert (shown["restartCount"], shown["state"]["waiting"]["reason"]) == (1, "CrashLoopBackOff")
    assert waiting.next_look == 10.0
    assert _life(container, 60.0, second).status()["containerStatuses"][0]["restartCount"] == 2


def test_a_new_server_goes_on_with_what_the_status_shows() -> None:
    container = _container(readiness={}, startup={})
    running = {"containerID": "x", "restartCount": 2, "started": True, "ready": True, "state": {"running": {}}}
    last = {"terminated": {"exitCode": 137}}
    waiting = {"containerID": "x", "restartCount": 2, "state": {"waiting": {}}, "lastState": last}

    run = exec_probes.first_seen(container, running, 30.0, 0.0)
    assert (run.number, run.is_ready, run.next_due) == (2, True, 30.0)
    shown = _life(container, 40.0, run).status()["containerStatuses"][0]
    assert (shown["restartCount"], shown["ready"]) == (2, True)
    assert _after(run, False, False, False).is_ready is False
    ended = exec_probes.first_seen(container, waiting, 0.0, 30.0)
    assert ended.known == ProcessRun(2, 0.0, 30.0, 137)
    assert exec_probes.first_seen(container, {}, 0.0, 0.0).known is None


def test_init_containers_wait_for_the_startup_probe_of_a_sidecar() -> None:
    sidecar = {**_container(startup={}), "restartPolicy": "Always"}
    pod = {**obj("p"), "spec": {"containers": [{"name": "a", "image": "b"}], "initContainers": [sidecar]}}
    begun = _begun(startup={})

    def started(probed: ProbedRun) -> list[bool]:
        begun = life(pod, 7.0, NOW, "", "", None, {"main": probed})
        return [one.run_at(7.0) is not None for one in begun.containers]

    assert started(begun) == [True, False]
    assert started(_after(begun, False, True)) == [True, False]  # it has passed at 10.0
    assert started(_after(begun, True)) == [True, True]
