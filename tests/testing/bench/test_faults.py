import http.client
import json
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.wire.request_info import resolve
from aio_apiserver.testing import Server
from aio_apiserver.testing.bench import fault_rules
from aio_apiserver.testing.bench.fault_kinds import FaultName
from aio_apiserver.testing.bench.fault_rules import FaultRule
from aio_apiserver.testing.bench.faults import ActiveFaults
from aio_apiserver.testing.client import BlockingClient, Refused
from tests.testing.objects import CONFIG_MAPS, make, names
from tests.testing.test_snapshots import ENDED, PATIENCE, version_of, watching

BROKEN = (http.client.RemoteDisconnected, ConnectionError)


def rule(**values: Any) -> FaultRule:
    return FaultRule.model_validate(values)


@pytest.mark.parametrize(("fault", "status"), [("conflict", 409), ("throttle", 429), ("error", 500), ("gone", 410)])
def test_a_request_is_answered_with_the_fault(
    server: Server, client: BlockingClient, fault: FaultName, status: int
) -> None:
    make(client, "one")

    with server.fault(fault, verb="get", resource="configmaps") as injected, pytest.raises(Refused) as refusal:
        client.request("GET", f"{CONFIG_MAPS}/one")

    assert refusal.value.status == status
    assert injected.injected == 1
    assert server.requests.matching(fault=f"*{fault}*")[-1].status == status


def test_faults_are_over_with_their_context_and_behind_their_count(server: Server, client: BlockingClient) -> None:
    with server.fault("error", code=503, count=1) as injected:
        with pytest.raises(Refused):
            names(client)
        names(client)
    names(client)

    assert injected.injected == 1


@pytest.mark.parametrize("pattern", ["error", "fault-*: error", "*error", ["gone", "error"]])
def test_requests_are_selected_by_their_fault(server: Server, client: BlockingClient, pattern: Any) -> None:
    with server.fault("error", count=1), pytest.raises(Refused):
        names(client)
    names(client)

    assert server.requests.matching(fault=pattern).statuses == [500]
    assert server.requests.matching(fault="", resource="configmaps").statuses == [200]


def test_a_connection_that_is_cut_before_has_changed_nothing(server: Server, client: BlockingClient) -> None:
    with server.fault("cut-before", verb="create"), pytest.raises(BROKEN):
        make(client, "lost")

    assert names(client) == []


def test_a_connection_that_is_cut_after_has_changed_something(server: Server, client: BlockingClient) -> None:
    with server.fault("cut-after", verb="create"), pytest.raises(BROKEN):
        make(client, "made")

    assert names(client) == ["made"]


def test_latency_delays_the_answer(server: Server, client: BlockingClient) -> None:
    began = time.monotonic()

    with server.fault("latency", delay=0.05):
        names(client)

    assert time.monotonic() - began >= 0.05


def test_stale_reads_show_the_past(server: Server, client: BlockingClient) -> None:
    make(client, "old")
    with server.fault("stale"):
        make(client, "new")
        client.request("DELETE", f"{CONFIG_MAPS}/old")

        assert names(client) == ["old"]
        assert client.request("GET", f"{CONFIG_MAPS}/old")["metadata"]["name"] == "old"
        with pytest.raises(Refused, match='configmaps "new" not found'):
            client.request("GET", f"{CONFIG_MAPS}/new")
    assert names(client) == ["new"]


def test_events_come_twice(server: Server, client: BlockingClient) -> None:
    with server.fault("duplicate", count=1), watching(server, version_of(client)) as said:
        make(client, "first")
        make(client, "second")

        told = [said.get(timeout=PATIENCE) for _ in range(3)]

    assert told == [("ADDED", "first"), ("ADDED", "first"), ("ADDED", "second")]


def test_delayed_events_stay_in_their_order(server: Server, client: BlockingClient) -> None:
    with server.fault("delay", delay=0.05, count=1) as injected, watching(server, version_of(client)) as said:
        make(client, "first")
        make(client, "second")

        told = [said.get(timeout=PATIENCE) for _ in range(2)]

    assert told == [("ADDED", "first"), ("ADDED", "second")]
    assert injected.injected == 1


def test_a_watch_is_cut_behind_so_many_events(server: Server, client: BlockingClient) -> None:
    with server.fault("cut-watch", after=1), watching(server, version_of(client)) as said:
        make(client, "seen")
        make(client, "missed")

        told = [said.get(timeout=PATIENCE) for _ in range(2)]

    assert told == [("ADDED", "seen"), ENDED]


def test_a_watch_that_is_open_ends_with_410(server: Server, client: BlockingClient) -> None:
    with watching(server, version_of(client)) as said:
        make(client, "seen")
        assert said.get(timeout=PATIENCE) == ("ADDED", "seen")
        server.inject("gone", verb="watch", count=1)

        assert said.get(timeout=PATIENCE) == ("ERROR", "410")


def test_faults_are_injected_and_withdrawn_over_http(client: BlockingClient) -> None:
    (made,) = client.request("POST", "/testing/faults", {"fault": "error", "resource": "configmaps"})["faults"]
    with pytest.raises(Refused):
        names(client)

    removed = client.request("DELETE", f"/testing/faults/{made['id']}")

    assert removed["injected"] == 1
    assert names(client) == []


def test_a_server_begins_with_the_faults_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text("- {fault: throttle, verb: [list], resource: configmaps, retry_after: 3}\n")

    with Server(testing_faults=path) as server, server.client() as client, pytest.raises(Refused) as refusal:
        names(client)

    assert refusal.value.status == 429


@pytest.mark.parametrize(
    "where",
    [
        {"verb": "patch"},
        {"resource": "*.apps"},
        {"resource": "deployments.apps", "namespace": "team-*"},
        {"name": "web", "user": "system:serviceaccount:*"},
    ],
)
def test_rules_are_for_what_fits_all_their_patterns(where: dict[str, str]) -> None:
    info = resolve("PATCH", "/apis/apps/v1/namespaces/team-a/deployments/web", {})

    assert rule(fault="error", **where).is_for(info, "system:serviceaccount:team-a:default")


@pytest.mark.parametrize("where", [{"verb": "get"}, {"resource": "deployments/status"}, {"namespace": "other"}])
def test_rules_are_for_nothing_else(where: dict[str, str]) -> None:
    info = resolve("PATCH", "/apis/apps/v1/namespaces/team-a/deployments/web", {})

    assert not rule(fault="error", **where).is_for(info, "somebody")


def test_chance_can_be_repeated() -> None:
    info = resolve("GET", "/api/v1/pods", {})

    def drawn() -> list[int]:
        faults = ActiveFaults(seed=7)
        faults.add(rule(fault="error", probability=0.5))
        return [len(list(faults.of_request(info, "somebody"))) for _ in range(20)]

    assert drawn() == drawn()
    assert 0 < sum(drawn()) < 20


def test_chance_begins_again_when_all_faults_are_cleared() -> None:
    info, faults = resolve("GET", "/api/v1/pods", {}), ActiveFaults(seed=7)

    def drawn() -> list[int]:
        faults.clear()
        faults.add(rule(fault="error", probability=0.5))
        return [len(list(faults.of_request(info, "somebody"))) for _ in range(20)]

    assert drawn() == drawn()


def test_rules_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValidationError, match="latency needs a delay"):
        rule(fault="latency")
    with pytest.raises(ValueError, match="the body"):
        fault_rules.parse(b"- {fault: nothing}", "the body")


def test_faults_need_a_server_for_testing() -> None:
    with pytest.raises(ValidationError, match="--testing-faults needs --testing"):
        Settings(testing_faults=Path("faults.yaml"))


def test_faults_stand_in_the_audit(tmp_path: Path) -> None:
    policy, log = tmp_path / "policy.yaml", tmp_path / "audit.log"
    policy.write_text("{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}")

    with Server(audit_policy_file=policy, audit_log_path=str(log)) as server, server.client() as client:
        server.inject("throttle", id="full", resource="configmaps")
        with pytest.raises(Refused):
            names(client)

    events = [json.loads(line) for line in log.read_text().splitlines()]
    marked = [event for event in events if event.get("annotations", {}).get("testing.apiserver/full") == "throttle"]
    assert [event["stage"] for event in marked] == ["ResponseComplete"]
