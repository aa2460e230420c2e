"""Several workers are one server to clients: one store, one health, one set of metrics."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import program as served
from tests.apiserver import program
from tests.apiserver.workers.running import CONFIG_MAPS, Address, connected
from tests.reliability import histories


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """The address of a server that all tests of this module share."""
    directory = tmp_path_factory.mktemp("workers")
    flags = ("--workers=2", "--ui", "--simulate", "--disable-admission-plugins=ServiceAccount")
    with served.running(directory, *flags, "--bind-address=127.0.0.1") as started:
        yield Address(directory, int(started.url.rpartition(":")[2]), started.process.pid)


async def test_one_worker_shows_what_the_other_has_written(address: Address) -> None:
    async with connected(address) as (one, other):
        await other.watch(CONFIG_MAPS)
        created = [
            await one.ask(CONFIG_MAPS, method="POST", body={"metadata": {"name": f"written-{number}"}})
            for number in range(3)
        ]
        seen = [(await other.event())["object"]["metadata"] for _ in created]
        async with connected(address) as (_, another):
            listed = (await another.ask(CONFIG_MAPS)).json

    assert [answer.status for answer in created] == [201] * 3
    assert seen == [answer.json["metadata"] for answer in created]
    assert [item["metadata"] for item in listed["items"]] == seen


async def test_both_workers_are_ready_together(address: Address) -> None:
    async with connected(address) as both:
        answers = [await one.ask("/readyz?verbose") for one in both]

    assert [(answer.status, "[+]workers ok" in answer.text) for answer in answers] == [(200, True)] * 2


async def test_the_counts_of_both_workers_are_counted_together(address: Address) -> None:
    counted = re.compile(r'^apiserver_request_total\{code="404".*resource="configmaps".*\} (\d+)$', re.MULTILINE)
    async with connected(address) as both:
        for number, one in enumerate(both):
            for _ in range(number + 1):
                assert (await one.ask(f"{CONFIG_MAPS}/none")).status == 404
        texts = [(await one.ask("/metrics")).text for one in both]
        await both[0].ask("/metrics", method="DELETE")
        reset = (await both[1].ask("/metrics")).text

    assert [counted.findall(text) for text in (*texts, reset)] == [["3"], ["3"], ["0"]]


async def test_the_limits_of_both_workers_are_those_of_the_server(address: Address) -> None:
    seats = re.compile(r"^apiserver_flowcontrol_nominal_limit_seats\{.*\} (\d+)$", re.MULTILINE)
    async with connected(address) as (one, _):
        text = (await one.ask("/metrics")).text

    assert 600 <= sum(map(int, seats.findall(text))) <= 620


async def test_writers_at_both_workers_lose_no_update(address: Address) -> None:
    path = f"{CONFIG_MAPS}/shared"
    async with connected(address) as both:
        await both[0].ask(CONFIG_MAPS, method="POST", body={"metadata": {"name": "shared"}, "data": {"n": "0"}})

        async def add(number: int) -> None:
            done = 0
            while done < 10:
                current = (await both[number].ask(path)).json
                current["data"]["n"] = str(int(current["data"]["n"]) + 1)
                done += (await both[number].ask(path, method="PUT", body=current)).status == 200

        await asyncio.gather(add(0), add(1))
        final = await both[0].ask(path)

    assert final.json["data"]["n"] == "20"


async def test_reads_and_writes_at_both_workers_are_linearizable(address: Address) -> None:
    found = await histories.collect([address.replica], operations=400)

    assert sum(map(len, found.values())) >= 400
    assert histories.contradictions(found) == {}


async def test_a_second_server_is_refused_on_the_same_data_and_on_the_same_port(
    address: Address, tmp_path: Path
) -> None:
    def flags(directory: Path, port: int) -> list[str]:
        return ["--workers=2", f"--data-dir={directory}", f"--secure-port={port}", "--bind-address=127.0.0.1"]

    on_data, on_port = await asyncio.gather(
        program.run(*flags(address.directory, 0)), program.run(*flags(tmp_path, address.port))
    )

    assert (on_data.code, "is in use by process" in on_data.err) == (1, True)
    assert (on_port.code, "another process has the port" in on_port.err) == (1, True)


async def test_the_timeline_of_one_worker_shows_the_requests_of_both(address: Address) -> None:
    async with connected(address) as both:
        first = (await both[0].ask("/ui/api/timeline")).json
        for number, one in enumerate(both):
            await one.ask(f"{CONFIG_MAPS}/of-worker-{number}")
        place = f"/ui/api/timeline?positions={first['next']['positions']}"
        shown = [(await one.ask(place)).json for one in both]

    for found in shown:
        requests = {one["name"]: one["process"] for one in found["requests"] if one["status"] == 404}
        assert requests == {f"of-worker-{number}": one.pid for number, one in enumerate(both)}


async def test_a_sign_out_at_one_worker_ends_the_session_at_both(address: Address) -> None:
    marked = {"X-Console": "1"}
    async with connected(address) as both:
        answer = await both[0].ask("/ui/session", method="POST", headers=marked)
        cookie = {**marked, "Authorization": "", "Cookie": answer.headers["set-cookie"].partition(";")[0]}
        before = [(await one.ask(CONFIG_MAPS, headers=cookie)).status for one in both]
        await both[0].ask("/ui/session", method="DELETE", headers=cookie)
        after = [(await one.ask(CONFIG_MAPS, headers=cookie)).status for one in both]

    assert (before, after) == ([200, 200], [401, 401])


async def test_each_worker_reaches_the_kubelet_of_simulated_nodes(address: Address) -> None:
    container = {"name": "main", "image": "busybox", "command": ["sh", "-c", "echo hello; sleep 1000"]}
    pod = {"metadata": {"name": "tells"}, "spec": {"containers": [container]}}
    pods = "/api/v1/namespaces/default/pods"
    async with connected(address) as both:
        await both[0].ask(pods, method="POST", body=pod)
        while (await both[0].ask(f"{pods}/tells/log")).text != "hello\n":
            pass
        logs = [(await one.ask(f"{pods}/tells/log")).text for one in both]

    assert logs == ["hello\n"] * 2
