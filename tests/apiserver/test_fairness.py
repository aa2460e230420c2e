"""Fairness on a whole server: levels and schemas that clients write."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, UserInfo
from aio_apiserver.registry.plugins.flowcontrol.tickets import ONE_SEAT, Ticket
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, bearer, read_answer, running, trusting

GROUP = "/apis/flowcontrol.apiserver.k8s.io/v1"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
DUMP = "/debug/api_priority_and_fairness/dump_priority_levels"
QUEUE = {"type": "Queue", "queuing": {"queues": 8, "handSize": 1, "queueLengthLimit": 1}}
REJECT = {"type": "Reject"}
EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
CLASSIFIED = ("list", "", "", "default", "configmaps", "")
JSON = {"Content-Type": "application/json"}


def level(response: dict[str, Any]) -> dict[str, Any]:
    """A level with one seat that borrows none."""
    limited = {"nominalConcurrencyShares": 1, "borrowingLimitPercent": 0, "limitResponse": response}
    return {"metadata": {"name": "narrow"}, "spec": {"type": "Limited", "limited": limited}}


def schema() -> dict[str, Any]:
    subjects = [{"kind": "User", "user": {"name": name}} for name in ("jane", "system:anonymous")]
    rule = {"subjects": subjects, "resourceRules": [EVERYTHING]}
    spec = {
        "priorityLevelConfiguration": {"name": "narrow"},
        "matchingPrecedence": 50,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [rule],
    }
    return {"metadata": {"name": "janes"}, "spec": spec}


async def as_administrator(server: Server, target: str, *, method: str = "GET", obj: Any = None) -> Answer:
    body = b"" if obj is None else orjson.dumps(obj)
    return await ask(server.secure.port, target, method=method, headers=JSON, body=body, tls=as_admin(server))


async def as_jane(server: Server, target: str = CONFIG_MAPS) -> Answer:
    return await ask(server.secure.port, target, headers=bearer("jane-token"), tls=trusting(server))


def fields(lines: dict[str, str]) -> str:
    """The fields of a request's head."""
    return "".join(f"{name}: {value}\r\n" for name, value in lines.items())


async def count(server: Server, column: str) -> int:
    """The row of the narrow level in the dump."""
    dump = (await as_administrator(server, DUMP)).text
    rows = [[cell.strip() for cell in line.split(",")] for line in dump.splitlines()]
    return next(int(row[rows[0].index(column)]) for row in rows if row[0] == "narrow")


@asynccontextmanager
async def narrow(directory: Path, response: dict[str, Any]) -> AsyncIterator[Server]:
    """A server where the requests of jane and of anonymous users share one seat."""
    tokens = directory / "tokens.csv"
    tokens.write_text("jane-token,jane,jane\n")
    async with running(
        directory,
        token_auth_file=tokens,
        authorization_mode=("AlwaysAllow",),
        max_requests_inflight=1,
        max_mutating_requests_inflight=1,
    ) as server:
        await as_administrator(server, f"{GROUP}/prioritylevelconfigurations", method="POST", obj=level(response))
        made = await as_administrator(server, f"{GROUP}/flowschemas", method="POST", obj=schema())
        uid = made.json["metadata"]["uid"]
        while (await as_jane(server)).headers.get("x-kubernetes-pf-flowschema-uid") != uid:
            pass
        yield server


@contextmanager
def taken_seat(server: Server) -> Iterator[None]:
    """The seat of the narrow level is taken."""
    fairness = server.parts.limits.fairness
    assert fairness is not None
    lane = fairness.lane_of(UserInfo(name="jane", groups=(ALL_AUTHENTICATED,)), CLASSIFIED)
    ticket = Ticket(lane, ONE_SEAT, server.parts.clock.patience.monotonic())
    assert fairness.enter(ticket)
    assert ticket.decision is None, "it waits"
    yield
    fairness.leave(ticket)


async def test_requests_wait_for_the_seats_of_their_level(tmp_path: Path) -> None:
    async with narrow(tmp_path, QUEUE) as server:
        with taken_seat(server):
            asking = asyncio.create_task(as_jane(server))
            while not await count(server, "WaitingRequests"):
                pass
            refused = await as_jane(server)
        answer = await asking

    assert (refused.status, refused.headers["retry-after"]) == (429, "1")
    assert answer.status == 200


async def test_a_level_that_rejects_has_no_queue(tmp_path: Path) -> None:
    async with narrow(tmp_path, REJECT) as server:
        with taken_seat(server):
            refused = await as_jane(server)
        metrics = (await as_administrator(server, "/metrics")).text

    assert refused.status == 429
    assert (
        'apiserver_flowcontrol_rejected_requests_total{flow_schema="janes",priority_level="narrow",'
        'reason="concurrency-limit"} 1\n' in metrics
    )


async def test_without_fairness_answers_say_nothing_of_it(tmp_path: Path) -> None:
    async with running(tmp_path, enable_priority_and_fairness=False) as server:
        answer = await as_administrator(server, "/api/v1/pods")
        dump = await as_administrator(server, DUMP)

    assert answer.status == 200
    assert not [name for name in answer.headers if "pf-" in name]
    assert dump.status == 404


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(bearer("jane-token"), id="of a user"),
        pytest.param({"Expect": "something else", **bearer("jane-token")}, id="of a user who expects something"),
        pytest.param({}, id="of an anonymous client"),
    ],
)
async def test_a_body_that_does_not_come_takes_no_seat_from_others(tmp_path: Path, more: dict[str, str]) -> None:
    lines = {"Host": "x", "Content-Length": "9", **more}
    head = f"POST {CONFIG_MAPS} HTTP/1.1\r\n{fields(lines)}\r\n{{"

    async with narrow(tmp_path, REJECT) as server:
        waiting = [await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=trusting(server)) for _ in range(3)]
        for _, writer in waiting:
            writer.write(head.encode())
            await writer.drain()
        answers = [await as_jane(server) for _ in range(3)]
        for _, writer in waiting:
            writer.close()

    assert {answer.status for answer in answers} == {200}


async def test_an_anonymous_body_that_comes_late_is_read(tmp_path: Path) -> None:
    body = orjson.dumps({"metadata": {"name": "late"}})
    lines = {"Host": "x", "Content-Length": str(len(body)), **JSON}

    async with narrow(tmp_path, REJECT) as server:
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=trusting(server))
        writer.write(f"POST {CONFIG_MAPS} HTTP/1.1\r\n{fields(lines)}\r\n".encode() + body[:-5])
        await writer.drain()
        assert (await as_jane(server)).status == 200
        writer.write(body[-5:])
        created = await read_answer(reader)
        writer.close()

    assert (created.status, created.json["metadata"]["name"]) == (201, "late")


async def test_a_body_that_does_not_come_after_its_invitation_takes_no_seat_from_others(tmp_path: Path) -> None:
    body = orjson.dumps({"metadata": {"name": "invited"}})
    lines = {"Host": "x", "Expect": "100-continue", "Content-Length": str(len(body)), **JSON, **bearer("jane-token")}

    async with narrow(tmp_path, REJECT) as server:
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=trusting(server))
        writer.write(f"POST {CONFIG_MAPS} HTTP/1.1\r\n{fields(lines)}\r\n".encode())
        invitation = await reader.readuntil(b"\r\n\r\n")
        answers = [await as_jane(server) for _ in range(3)]
        writer.write(body)
        created = await read_answer(reader)
        writer.close()

    assert invitation == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert {answer.status for answer in answers} == {200}
    assert created.status == 201


async def test_a_long_body_that_stops_takes_no_seat_from_others(tmp_path: Path) -> None:
    body = orjson.dumps({"metadata": {"name": "slow"}, "data": {"long": "x" * 200_000}})
    lines = {"Host": "x", "Content-Length": str(len(body)), **JSON, **bearer("jane-token")}

    async with narrow(tmp_path, REJECT) as server:
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=trusting(server))
        writer.write(f"POST {CONFIG_MAPS} HTTP/1.1\r\n{fields(lines)}\r\n".encode() + body[:-5])
        await writer.drain()
        answers = [await as_jane(server) for _ in range(3)]
        writer.write(body[-5:])
        created = await read_answer(reader)
        writer.close()

    assert {answer.status for answer in answers} == {200}
    assert created.status == 201
