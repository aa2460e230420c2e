"""The events of controllers, as `kubectl get events` shows them."""

from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient

API, APPS, BATCH = "/api/v1/namespaces/default", "/apis/apps/v1/namespaces/default", "/apis/batch/v1/namespaces/default"
PHASE = "simulate.aio-apiserver/phase"
CLUSTER = {"controllers": ("*",)}


def template(**annotations: str) -> dict[str, Any]:
    metadata = {"labels": {"app": "web"}, "annotations": annotations}
    return {"metadata": metadata, "spec": {"containers": [{"name": "web", "image": "nginx"}]}}


def workload(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec}}


def told(server: Server, client: BlockingClient, kind: str) -> list[tuple[str, str, int]]:
    """Reason, component and count of the events about objects of a kind, when all is done."""
    server.clock.advance(0)
    found = client.request("GET", f"{API}/events?fieldSelector=involvedObject.kind={kind}")["items"]
    return sorted((one["reason"], one["reportingComponent"], one.get("count", 1)) for one in found)


def messages(client: BlockingClient, reason: str) -> list[str]:
    return [one["message"] for one in client.request("GET", f"{API}/events?fieldSelector=reason={reason}")["items"]]


def test_a_deployment_and_its_pods_are_told_of(server: Server, client: BlockingClient) -> None:
    client.request("POST", f"{APPS}/deployments", workload("web", replicas=2, template=template()))

    assert told(server, client, "Deployment") == [("ScalingReplicaSet", "deployment-controller", 1)]
    assert told(server, client, "ReplicaSet") == [("SuccessfulCreate", "replicaset-controller", 1)] * 2
    pod = [("Created", "kubelet"), ("Pulled", "kubelet"), ("Scheduled", "default-scheduler"), ("Started", "kubelet")]
    assert told(server, client, "Pod") == [(*one, 1) for one in pod for _ in range(2)]
    (scaled,) = messages(client, "ScalingReplicaSet")
    assert scaled.startswith("Scaled up replica set web-")
    assert scaled.endswith(" from 0 to 2")


def test_a_pod_that_cannot_be_made_is_told_of(server: Server, client: BlockingClient) -> None:
    limits = {"spec": {"hard": {"pods": "0"}}, "status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}}
    client.request("POST", f"{API}/resourcequotas", {"metadata": {"name": "none"}, **limits})
    server.clock.advance(0)
    client.request("POST", f"{APPS}/replicasets", workload("web", replicas=1, template=template()))

    heard = {(reason, who) for reason, who, _ in told(server, client, "ReplicaSet")}

    assert heard == {("FailedCreate", "replicaset-controller")}
    assert "exceeded quota: none" in messages(client, "FailedCreate")[0]


def test_a_stateful_set_names_pods_and_claims(server: Server, client: BlockingClient) -> None:
    resources = {"requests": {"storage": "1Gi"}}
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources}}
    body = workload("db", replicas=1, serviceName="db", template=template(), volumeClaimTemplates=[claim])
    client.request("POST", f"{APPS}/statefulsets", body)

    assert told(server, client, "StatefulSet") == [("SuccessfulCreate", "statefulset-controller", 1)] * 2
    assert sorted(messages(client, "SuccessfulCreate")) == [
        "Create Claim data-db-0 Pod db-0 in StatefulSet db success",
        "Create Pod db-0 in StatefulSet db successful",
    ]


def test_a_job_says_how_it_ends(server: Server, client: BlockingClient) -> None:
    for name, phase in (("good", "Succeeded"), ("bad", "Failed")):
        pod = template(**{PHASE: phase})
        pod["spec"]["restartPolicy"] = "Never"
        client.request(
            "POST", f"{BATCH}/jobs", {"metadata": {"name": name}, "spec": {"backoffLimit": 0, "template": pod}}
        )

    assert told(server, client, "Job") == [
        ("BackoffLimitExceeded", "job-controller", 1),
        ("Completed", "job-controller", 1),
        ("SuccessfulCreate", "job-controller", 1),
        ("SuccessfulCreate", "job-controller", 1),
    ]


def test_a_cron_job_tells_of_its_jobs(server: Server, client: BlockingClient) -> None:
    pod = template(**{PHASE: "Succeeded"})
    pod["spec"]["restartPolicy"] = "Never"
    spec = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": pod}}}
    client.request("POST", f"{BATCH}/cronjobs", {"metadata": {"name": "tick"}, "spec": spec})
    server.clock.advance(60)

    assert told(server, client, "CronJob") == [
        ("SawCompletedJob", "cronjob-controller", 1),
        ("SuccessfulCreate", "cronjob-controller", 1),
    ]


@pytest.mark.parametrize(
    ("phase", "reasons"),
    [
        ("CrashLoopBackOff", ["BackOff", "Created", "Pulled", "Scheduled", "Started"]),
        ("ImagePullBackOff", ["BackOff", "Failed", "Failed", "Failed", "Pulling", "Scheduled"]),
    ],
)
def test_a_pod_that_does_not_come_up_says_why(
    server: Server, client: BlockingClient, phase: str, reasons: list[str]
) -> None:
    pod = {**template(**{PHASE: phase}), "apiVersion": "v1", "kind": "Pod"}
    pod["metadata"]["name"] = "web"
    client.request("POST", f"{API}/pods", pod)

    assert [reason for reason, _, _ in told(server, client, "Pod")] == reasons


def test_a_pod_that_fits_nowhere_says_so_and_one_that_goes_too(server: Server, client: BlockingClient) -> None:
    for name, selector in (("here", {}), ("nowhere", {"disk": "ssd"})):
        pod = {**template(), "apiVersion": "v1", "kind": "Pod"}
        pod["metadata"]["name"] = name
        pod["spec"]["nodeSelector"] = selector
        client.request("POST", f"{API}/pods", pod)
    server.clock.advance(0)
    client.request("DELETE", f"{API}/pods/here")

    reasons = [reason for reason, _, _ in told(server, client, "Pod")]

    assert reasons == ["Created", "FailedScheduling", "Killing", "Pulled", "Scheduled", "Started"]
    assert messages(client, "Killing") == ["Stopping container web"]


def test_a_budget_without_pods_says_so(server: Server, client: BlockingClient) -> None:
    budget = {"metadata": {"name": "web"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}}
    client.request("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget)

    assert [(reason, who) for reason, who, _ in told(server, client, "PodDisruptionBudget")] == [
        ("NoPods", "controllermanager")
    ]


def test_a_job_whose_parts_fail_each_for_itself_says_so(server: Server, client: BlockingClient) -> None:
    pod = template(**{PHASE: "Failed"})
    pod["spec"]["restartPolicy"] = "Never"
    spec = {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "backoffLimitPerIndex": 1, "template": pod}
    client.request("POST", f"{BATCH}/jobs", {"metadata": {"name": "parts"}, "spec": spec})
    server.clock.advance(60)
    status = client.request("GET", f"{BATCH}/jobs/parts")["status"]

    assert (status["failedIndexes"], status["failed"]) == ("0,1", 4)
    assert [one["reason"] for one in status["conditions"] if one["type"] == "Failed"] == ["FailedIndexes"]
    assert ("FailedIndexes", "job-controller", 1) in told(server, client, "Job")


def test_a_pod_of_high_priority_preempts_and_the_messages_say_so(server: Server, client: BlockingClient) -> None:
    for name, value in (("low", 1), ("high", 1000)):
        client.request(
            "POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value}
        )
    for name in ("low", "high"):
        pod = {**template(), "apiVersion": "v1", "kind": "Pod"}
        pod["metadata"]["name"] = name
        pod["spec"].update({"priorityClassName": name, "terminationGracePeriodSeconds": 0})
        pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "20"}}
        client.request("POST", f"{API}/pods", pod)
        server.clock.advance(0)

    (left,) = client.request("GET", f"{API}/pods")["items"]
    assert (left["metadata"]["name"], left["status"]["phase"]) == ("high", "Running")
    assert "Preempted" in [reason for reason, _, _ in told(server, client, "Pod")]
    assert messages(client, "FailedScheduling") == ["0/1 nodes are available: 1 Insufficient cpu."]
    (preempted,) = messages(client, "Preempted")
    assert preempted == f"Preempted by pod {left['metadata']['uid']} on node node-0"
