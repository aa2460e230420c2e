"""Controllers in a server whose clock is held and moved."""

from datetime import UTC, datetime
from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient, Refused
from tests.testing.objects import CONFIG_MAPS, make, names
from tests.testing.test_snapshots import ENDED, PATIENCE, version_of, watching

START = "2030-01-01T00:00:00Z"
PODS, JOBS, EVENTS = (
    f"/{root}/namespaces/default/{plural}"
    for root, plural in (("api/v1", "pods"), ("apis/batch/v1", "jobs"), ("api/v1", "events"))
)
TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}


def job(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {**spec, "template": TEMPLATE}}


def test_a_clock_that_is_held_stays_held(server: Server, client: BlockingClient) -> None:
    with server.clock.hold(at=START):
        made = [make(client, name, colour="blue")["metadata"] for name in ("a", "b")]

        assert [one["creationTimestamp"] for one in made] == [START, START]
        assert [one["managedFields"][0]["time"] for one in made] == [START, START]
        assert server.clock.is_held
    assert not server.clock.is_held


async def test_time_can_be_moved_beside_an_event_loop(server: Server) -> None:
    async with server.clock.hold() as clock:
        began = clock.now

        assert (await clock.advance_async("90m") - began).total_seconds() == 5400
        assert await clock.set_async(began) == began


def test_a_clock_that_runs_can_be_moved_and_runs_on(server: Server) -> None:
    before = datetime.now(UTC)

    moved = server.clock.advance("1h")

    assert 3600 <= (moved - before).total_seconds() < 3660
    assert not server.clock.is_held


def test_a_reset_takes_the_time_back(server: Server) -> None:
    server.clock.hold(at=START)

    server.reset()

    assert abs((server.clock.now - datetime.now(UTC)).total_seconds()) < 60


def test_an_hour_of_cron_jobs_passes(cluster: Server, admin: BlockingClient) -> None:
    spec = {"schedule": "*/10 * * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}
    cron = {"metadata": {"name": "tick"}, "spec": {**spec, "successfulJobsHistoryLimit": 10}}
    admin.request("POST", "/apis/batch/v1/namespaces/default/cronjobs", cron)

    cluster.clock.advance("1h")

    done = admin.request("GET", JOBS)["items"]
    assert sorted(one["metadata"]["creationTimestamp"] for one in done) == [
        f"2030-01-01T00:{minute}:00Z" for minute in range(10, 60, 10)
    ] + ["2030-01-01T01:00:00Z"]
    assert all(one["status"]["succeeded"] == 1 for one in done)


def test_finished_jobs_go_when_their_time_is_over(cluster: Server, admin: BlockingClient) -> None:
    admin.request("POST", JOBS, job("short", ttlSecondsAfterFinished=600))
    cluster.clock.advance("9m")
    assert names(admin, JOBS) == ["short"]

    cluster.clock.advance("2m")

    assert names(admin, JOBS) == []


def test_jobs_fail_at_their_deadline(cluster: Server, admin: BlockingClient) -> None:
    slow = job("slow", activeDeadlineSeconds=60)
    slow["spec"]["template"] = {**TEMPLATE, "metadata": {"annotations": {"simulate.aio-apiserver/phase": "Pending"}}}
    admin.request("POST", JOBS, slow)

    cluster.clock.advance("61s")

    status = admin.request("GET", f"{JOBS}/slow")["status"]
    assert [one["reason"] for one in status["conditions"] if one["type"] == "Failed"] == ["DeadlineExceeded"]


def test_pods_start_and_stop_in_their_time(cluster: Server, admin: BlockingClient) -> None:
    rules = {"simulate.aio-apiserver/delay": "20s", "simulate.aio-apiserver/stop": "1h"}
    spec = {**TEMPLATE["spec"], "restartPolicy": "Always"}
    admin.request("POST", PODS, {"metadata": {"name": "web", "annotations": rules}, "spec": spec})

    def phase_after(seconds: float) -> str:
        cluster.clock.advance(seconds)
        phase: str = admin.request("GET", f"{PODS}/web")["status"]["phase"]
        return phase

    assert [phase_after(19), phase_after(1)] == ["Pending", "Running"]
    admin.request("DELETE", f"{PODS}/web?gracePeriodSeconds=30")
    cluster.clock.advance(29)
    assert names(admin, PODS) == ["web"]
    cluster.clock.advance(1)
    assert names(admin, PODS) == []


def test_nodes_stay_alive_while_time_passes(cluster: Server, admin: BlockingClient) -> None:
    moved = cluster.clock.advance("10m")

    (lease,) = admin.request("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")["items"]
    renewed = datetime.fromisoformat(lease["spec"]["renewTime"])
    assert 0 <= (moved - renewed).total_seconds() <= 10


def test_tokens_of_service_accounts_end(cluster: Server, admin: BlockingClient) -> None:
    path = "/api/v1/namespaces/default/serviceaccounts/default"
    given = admin.request("POST", f"{path}/token", {"spec": {"expirationSeconds": 600}})["status"]["token"]

    with cluster.client() as account:
        account.token = given
        account.request("GET", "/version")
        cluster.clock.advance("12m")  # a minute more, as clocks differ
        with pytest.raises(Refused, match="401"):
            account.request("GET", "/version")


def test_bootstrap_tokens_end() -> None:
    secret = {
        "metadata": {"name": "bootstrap-token-abcdef"},
        "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "token-id": "abcdef",
            "token-secret": "0123456789abcdef",
            "usage-bootstrap-authentication": "true",
            "expiration": "2030-01-01T01:00:00Z",
        },
    }
    with Server(time=START, enable_bootstrap_token_auth=True) as server, server.client() as client:
        client.request("POST", "/api/v1/namespaces/kube-system/secrets", secret)
        client.token = "abcdef.0123456789abcdef"
        client.request("GET", "/version")

        server.clock.set("2030-01-01T01:00:01Z")

        with pytest.raises(Refused, match="401"):
            client.request("GET", "/version")


def test_events_are_forgotten(server: Server, client: BlockingClient) -> None:
    about = {"kind": "Pod", "namespace": "default", "name": "web"}
    event = {"metadata": {"name": "seen"}, "involvedObject": about, "reason": "Seen", "message": "", "type": "Normal"}
    client.request("POST", EVENTS, event)
    server.clock.advance("59m")
    assert names(client, EVENTS) == ["seen"]

    server.clock.advance("5m")

    assert names(client, EVENTS) == []


def test_history_is_compacted(server: Server, client: BlockingClient) -> None:
    version = version_of(client)
    make(client, "later")
    old = f"{CONFIG_MAPS}?resourceVersion={version}&resourceVersionMatch=Exact"
    assert names(client, old) == []

    server.clock.advance("16m")

    with pytest.raises(Refused, match="410"):
        names(client, old)


def test_watches_end_when_their_time_is_over(server: Server, client: BlockingClient) -> None:
    with watching(server, version_of(client)) as said:
        make(client, "seen")
        assert said.get(timeout=PATIENCE) == ("ADDED", "seen")

        server.clock.advance("1h")

        assert said.get(timeout=PATIENCE) == ENDED


def test_a_fork_has_the_same_time(server: Server) -> None:
    server.clock.hold(at=START)

    with server.fork() as other:
        assert (other.clock.now, other.clock.is_held) == (server.clock.now, True)


def test_the_clock_is_moved_over_http(client: BlockingClient) -> None:
    client.request("POST", f"/testing/clock/hold?at={START}")

    moved = client.request("POST", "/testing/clock/advance?by=1h30m")

    assert moved == {"time": "2030-01-01T01:30:00.000000Z", "isHeld": True}
    assert client.request("POST", "/testing/clock/set?to=2030-01-02T00:00:00Z")["time"].startswith("2030-01-02T00:00")
    assert client.request("POST", "/testing/clock/release")["isHeld"] is False
    assert client.request("GET", "/testing/clock")["isHeld"] is False


@pytest.mark.parametrize("asked", ["advance?by=later", "advance?by=-1s", "set?to=tomorrow", "hold?at=noon", "advance"])
def test_times_that_make_no_sense_are_refused(client: BlockingClient, asked: str) -> None:
    with pytest.raises(Refused) as refusal:
        client.request("POST", f"/testing/clock/{asked}")

    assert refusal.value.status == 400


@pytest.mark.parametrize("moment", ["2001-01-01T00:00:00Z", "2061-01-01T00:00:00Z"])
def test_certificates_are_good_whatever_the_clock_shows(server: Server, moment: str) -> None:
    server.clock.hold(at=moment)

    with server.user("jane").client() as client:
        assert client.request("GET", "/version")["major"] == "1"
