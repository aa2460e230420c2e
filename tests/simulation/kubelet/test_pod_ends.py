from aio_apiserver.simulation.kubelet import kubelet
from tests.controllers.making import NOW, life, obj


def test_containers_that_run_are_killed_and_the_pod_has_failed() -> None:
    pod = {**obj("p"), "spec": {"containers": [{"name": "a", "image": "b"}], "restartPolicy": "Always"}}
    status = life(pod, 0.0, NOW, "10.1.1.1", "10.2.2.2").status()

    ended = kubelet.killed(status, now=NOW)

    assert (ended["phase"], ended["podIP"]) == ("Failed", "10.2.2.2")
    (container,) = ended["containerStatuses"]
    assert container["state"]["terminated"]["exitCode"] == 137
    assert not container["ready"]
    reported = {one["type"]: one["status"] for one in ended["conditions"]}
    assert (reported["Ready"], reported["ContainersReady"], reported["PodScheduled"]) == ("False", "False", "True")
    assert status["phase"] == "Running"
