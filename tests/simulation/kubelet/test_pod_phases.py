from typing import Any

import pytest

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.model.annotations import PREFIX
from tests.controllers.making import BEFORE, NOW, life, obj


def _pod(restart: str = "Always", **rules: str) -> Object:
    made = obj("p", annotations={PREFIX + name: text for name, text in rules.items()})
    return {**made, "spec": {"containers": [{"name": "a", "image": "b"}], "restartPolicy": restart}}


def _status(pod: Object, age: float = 0.0) -> Any:
    return life(pod, age, NOW, "10.1.1.1", "10.2.2.2").status()


def _is_ready(status: Object) -> bool:
    return any(one["type"] == "Ready" and one["status"] == "True" for one in status["conditions"])


def test_a_pod_runs_at_once() -> None:
    status = _status(_pod())

    assert (status["phase"], status["podIP"], status["hostIP"]) == ("Running", "10.2.2.2", "10.1.1.1")
    assert status["containerStatuses"][0]["state"] == {"running": {"startedAt": NOW}}
    assert _is_ready(status)


def test_a_pod_that_does_not_restart_succeeds() -> None:
    status = _status(_pod("Never"))

    assert status["phase"] == "Succeeded"
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    assert not _is_ready(status)


def test_a_pod_starts_late_if_it_is_told_to() -> None:
    pod = _pod(delay="3s")

    assert _status(pod, 2.9)["phase"] == "Pending"
    assert life(pod, 1.0, NOW, "", "").next_look == 2.0
    assert _status(pod, 3.0)["phase"] == "Running"


def test_a_pod_runs_for_a_while_before_it_ends() -> None:
    pod = _pod("Never", run="5s", delay="1s")

    assert [_status(pod, age)["phase"] for age in (0.5, 1.5, 6.0)] == ["Pending", "Running", "Succeeded"]


@pytest.mark.parametrize(
    ("rule", "phase", "reason"),
    [
        ("Pending", "Pending", "ContainerCreating"),
        ("ImagePullBackOff", "Pending", "ImagePullBackOff"),
        ("CrashLoopBackOff", "Running", "CrashLoopBackOff"),
    ],
)
def test_a_pod_may_not_come_up(rule: str, phase: str, reason: str) -> None:
    status = _status(_pod(phase=rule))

    assert status["phase"] == phase
    assert status["containerStatuses"][0]["state"]["waiting"]["reason"] == reason
    assert not _is_ready(status)


def test_a_pod_may_fail_or_not_be_ready() -> None:
    failed, unready = _status(_pod(phase="Failed")), _status(_pod(phase="NotReady"))

    assert failed["phase"] == "Failed"
    assert failed["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 1
    assert unready["phase"] == "Running"
    assert not _is_ready(unready)


def test_what_has_been_said_is_said_again_in_the_same_words() -> None:
    pod = _pod(phase="CrashLoopBackOff")
    pod["status"] = _status(pod)

    assert _status(pod, 60.0) == pod["status"]


def test_readiness_gates_hold_a_pod_back() -> None:
    pod = _pod()
    pod["spec"]["readinessGates"] = [{"conditionType": "example.com/lb"}]
    assert not _is_ready(_status(pod))

    pod["status"] = {"conditions": [{"type": "example.com/lb", "status": "True"}]}

    assert _is_ready(_status(pod))


def test_a_container_is_ready_after_the_delay_of_its_readiness_probe() -> None:
    pod = _pod(delay="1s")
    pod["spec"]["containers"][0]["readinessProbe"] = {"httpGet": {"port": 80}, "initialDelaySeconds": 20}

    young = _status(pod, 20.9)
    assert (young["phase"], young["containerStatuses"][0]["started"]) == ("Running", True)
    assert not young["containerStatuses"][0]["ready"]
    assert not _is_ready(young)
    assert life(pod, 2.0, NOW, "", "").next_look == 19.0
    old = _status(pod, 21.0)
    assert old["containerStatuses"][0]["ready"]
    assert _is_ready(old)

    pod["metadata"]["annotations"][f"{PREFIX}phase"] = "Running"
    assert _is_ready(_status(pod, 1.0))


def test_an_ephemeral_container_runs_beside_the_others_until_its_command_ends() -> None:
    debug = {"name": "debug", "image": "busybox", "command": ["sh", "-c", "sleep 5; exit 3"]}
    pod = _pod()
    pod["spec"]["ephemeralContainers"] = [debug, {"name": "shell", "image": "busybox", "stdin": True}]

    begun = life(pod, 1.0, BEFORE, "", "")
    pod["status"] = begun.status()
    ended = life(pod, 61.0, NOW, "", "").status()

    assert [list(one["state"]) for one in pod["status"]["ephemeralContainerStatuses"]] == [["running"], ["running"]]
    assert begun.next_look == 5.0
    states = [one["state"] for one in ended["ephemeralContainerStatuses"]]
    assert (states[0]["terminated"]["exitCode"], list(states[1])) == (3, ["running"])
    assert (ended["phase"], _is_ready(ended)) == ("Running", True)
    assert life({**pod, "status": ended}, 90.0, NOW, "", "").status() == ended


@pytest.mark.parametrize(
    ("of_pod", "of_container", "phase"),
    [("Never", "OnFailure", "Running"), ("Always", "Never", "Failed"), ("OnFailure", None, "Running")],
)
def test_a_container_may_have_a_restart_policy_of_its_own(of_pod: str, of_container: str | None, phase: str) -> None:
    pod = _pod(of_pod)
    own = {"restartPolicy": of_container} if of_container else {}
    pod["spec"]["containers"] = [{"name": "a", "image": "busybox", "command": ["sh", "-c", "exit 3"], **own}]

    assert _status(pod, 1.0)["phase"] == phase
