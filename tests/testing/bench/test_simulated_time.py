"""Containers of a simulated cluster that end by what they run, in a time that the test moves."""

from typing import Any

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient

PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


def _job(name: str, *command: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "busybox", "command": list(command)}]
    template = {"spec": {"restartPolicy": "Never", "containers": containers}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template, **spec}}


def _pod(name: str, restarts: str, *containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    made = [{"name": f"c{number}", "image": "busybox", **one} for number, one in enumerate(containers)]
    return {"metadata": {"name": name}, "spec": {"restartPolicy": restarts, "containers": made, **spec}}


def _conditions(admin: BlockingClient, name: str) -> list[str]:
    status = admin.request("GET", f"{JOBS}/{name}")["status"]
    return [one["type"] for one in status.get("conditions") or () if one["status"] == "True"]


def _status(admin: BlockingClient, name: str) -> dict[str, Any]:
    status: dict[str, Any] = admin.request("GET", f"{PODS}/{name}")["status"]
    return status


def test_jobs_end_when_their_programs_end(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", JOBS, _job("short", "true"))
    admin.request("POST", JOBS, _job("long", "sh", "-c", "echo begin; sleep 60; echo end"))
    admin.request("POST", JOBS, _job("broken", "sh", "-c", "sleep 5; exit 3", backoffLimit=0))

    cluster.clock.advance(1)
    assert [_conditions(admin, name) for name in ("short", "long", "broken")] == [
        ["SuccessCriteriaMet", "Complete"],
        [],
        [],
    ]

    cluster.clock.advance(30)
    assert _conditions(admin, "broken") == ["FailureTarget", "Failed"]
    assert _conditions(admin, "long") == []

    cluster.clock.advance(30)
    assert _conditions(admin, "long") == ["SuccessCriteriaMet", "Complete"]


def test_running_pods_go_with_their_job(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", JOBS, _job("long", "sleep", "300"))
    cluster.clock.advance(1)
    (pod,) = admin.request("GET", PODS)["items"]
    assert pod["metadata"]["finalizers"] == ["batch.kubernetes.io/job-tracking"]

    admin.request("DELETE", f"{JOBS}/long?propagationPolicy=Background")
    admin.request("POST", JOBS, _job("long", "sleep", "300"))
    cluster.clock.advance(60)

    (other,) = admin.request("GET", PODS)["items"]
    assert other["metadata"]["uid"] != pod["metadata"]["uid"]


def test_a_namespace_with_a_running_job_ends(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": "short"}})
    admin.request("POST", JOBS.replace("default", "short"), _job("long", "sleep", "300", parallelism=2))
    cluster.clock.advance(1)

    admin.request("DELETE", "/api/v1/namespaces/short")
    cluster.clock.advance(60)

    names = [one["metadata"]["name"] for one in admin.request("GET", "/api/v1/namespaces")["items"]]
    assert "short" not in names


def test_a_released_pod_is_not_tracked(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", JOBS, _job("long", "sleep", "300"))
    cluster.clock.advance(1)
    (pod,) = admin.request("GET", PODS)["items"]

    path, merge = f"{PODS}/{pod['metadata']['name']}", "application/merge-patch+json"
    admin.request("PATCH", path, {"metadata": {"labels": dict.fromkeys(pod["metadata"]["labels"])}}, content_type=merge)
    cluster.settle()

    metadata = admin.request("GET", path)["metadata"]
    assert "finalizers" not in metadata
    assert "ownerReferences" not in metadata


def test_a_cron_job_misses_a_job_that_was_deleted(cluster: Server, admin: BlockingClient) -> None:
    template = {"spec": _job("any", "sleep", "300")["spec"]}
    cron_job = {"metadata": {"name": "often"}, "spec": {"schedule": "* * * * *", "jobTemplate": template}}
    admin.request("POST", JOBS.replace("jobs", "cronjobs"), cron_job)
    cluster.clock.advance(61)
    (job,) = admin.request("GET", JOBS)["items"]

    admin.request("DELETE", f"{JOBS}/{job['metadata']['name']}?propagationPolicy=Background")
    cluster.settle()

    events = admin.request("GET", "/api/v1/namespaces/default/events?fieldSelector=reason%3DMissingJob")["items"]
    assert [one["message"] for one in events] == [f"Active job went missing: {job['metadata']['name']}"]


def test_a_program_knows_its_index(cluster: Server, admin: BlockingClient) -> None:
    odd = ("sh", "-c", "if [ $(expr ${JOB_COMPLETION_INDEX} % 2) -ne 0 ]; then exit 1; fi")
    indexed = {"completionMode": "Indexed", "completions": 4, "parallelism": 4, "backoffLimitPerIndex": 0}
    admin.request("POST", JOBS, _job("parts", *odd, **indexed))

    cluster.clock.advance(5)

    status = admin.request("GET", f"{JOBS}/parts")["status"]
    assert (status["completedIndexes"], status["failedIndexes"]) == ("0,2", "1,3")


def test_a_container_that_ends_is_started_again_ever_later(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", PODS, _pod("web", "Always", {"command": ["sh", "-c", "sleep 1; exit 2"]}))

    def state_after(seconds: float) -> tuple[str, int]:
        cluster.clock.advance(seconds)
        (container,) = _status(admin, "web")["containerStatuses"]
        return next(iter(container["state"])), container["restartCount"]

    assert [state_after(seconds) for seconds in (0.5, 1, 1, 10, 1)] == [
        ("running", 0),
        ("running", 1),
        ("waiting", 1),
        ("running", 2),
        ("waiting", 2),
    ]
    (container,) = _status(admin, "web")["containerStatuses"]
    assert container["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert container["lastState"]["terminated"]["exitCode"] == 2


def test_a_pod_runs_until_its_last_container_ends(cluster: Server, admin: BlockingClient) -> None:
    short, long = {"command": ["true"]}, {"command": ["sleep", "10"]}
    admin.request("POST", PODS, _pod("both", "OnFailure", short, long))

    cluster.clock.advance(5)
    states = [next(iter(one["state"])) for one in _status(admin, "both")["containerStatuses"]]
    assert (states, _status(admin, "both")["phase"]) == (["terminated", "running"], "Running")

    cluster.clock.advance(5)
    assert _status(admin, "both")["phase"] == "Succeeded"


def test_init_containers_come_first_and_one_after_the_other(cluster: Server, admin: BlockingClient) -> None:
    init = [
        {"name": "proxy", "image": "busybox", "command": ["sleep", "infinity"], "restartPolicy": "Always"},
        {"name": "first", "image": "busybox", "command": ["sleep", "3"]},
        {"name": "second", "image": "busybox", "command": ["sleep", "3"]},
    ]
    admin.request("POST", PODS, _pod("late", "Always", {"command": ["sleep", "infinity"]}, initContainers=init))

    def states() -> list[str]:
        status = _status(admin, "late")
        shown = [*status["initContainerStatuses"], *status["containerStatuses"]]
        return [next(iter(one["state"])) for one in shown]

    cluster.clock.advance(4)
    assert (states(), _status(admin, "late")["phase"]) == (["running", "terminated", "running", "waiting"], "Pending")

    cluster.clock.advance(3)
    assert (states(), _status(admin, "late")["phase"]) == (
        ["running", "terminated", "terminated", "running"],
        "Running",
    )


def test_a_failed_init_container_fails_a_pod_that_does_not_restart(cluster: Server, admin: BlockingClient) -> None:
    init = [{"name": "first", "image": "busybox", "command": ["false"]}]
    admin.request("POST", PODS, _pod("bad", "Never", {"command": ["true"]}, initContainers=init))

    cluster.clock.advance(1)

    status = _status(admin, "bad")
    assert status["phase"] == "Failed"
    assert status["containerStatuses"][0]["state"] == {"waiting": {"reason": "PodInitializing"}}


def test_annotations_give_the_time_and_the_code(cluster: Server, admin: BlockingClient) -> None:
    pod = _pod("told", "Never", {"command": ["sleep", "infinity"]})
    pod["metadata"]["annotations"] = {"simulate.aio-apiserver/run": "5s", "simulate.aio-apiserver/exit-code": "4"}
    admin.request("POST", PODS, pod)

    cluster.clock.advance(4)
    assert _status(admin, "told")["phase"] == "Running"

    cluster.clock.advance(1)
    assert _status(admin, "told")["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 4


def test_the_kubelet_kills_a_pod_at_its_deadline(cluster: Server, admin: BlockingClient) -> None:
    pod = _pod("slow", "Always", {"command": ["sleep", "infinity"]}, activeDeadlineSeconds=30)
    admin.request("POST", PODS, pod)

    cluster.clock.advance(31)

    status = _status(admin, "slow")
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
