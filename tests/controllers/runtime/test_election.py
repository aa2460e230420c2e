import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.controllers.runtime import resources as places
from aio_apiserver.controllers.runtime.election import NAMESPACE, Election
from aio_apiserver.controllers.runtime.rate_limiter import RateLimiter
from tests.controllers import clusters

_NAME = "work"


class Worker:
    """Leads, and records since when, and its end."""

    def __init__(self) -> None:
        self.leads = asyncio.Event()
        self.has_ended = asyncio.Event()

    async def lead(self) -> None:
        self.leads.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.has_ended.set()


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[clusters.Cluster]:
    async with clusters.running(tmp_path) as running:
        yield running


def _election(cluster: clusters.Cluster, clock: ManualClock, identity: str) -> Election:
    return Election(cluster.client, clock, name=_NAME, identity=identity)


async def _holder(cluster: clusters.Cluster) -> str:
    lease = await cluster.client.get(places.LEASES, f"{NAMESPACE}/{_NAME}")
    assert lease is not None
    return str(lease["spec"].get("holderIdentity", ""))


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _pass(clock: ManualClock, seconds: float, done: asyncio.Event) -> None:
    """Advance the time until an event has happened."""
    waiting = asyncio.ensure_future(done.wait())
    while not waiting.done():
        await asyncio.wait({waiting}, timeout=0.001)
        clock.advance(seconds)


async def test_one_leads_and_the_other_takes_over_when_it_ends(cluster: clusters.Cluster) -> None:
    clock, one, other = ManualClock(), Worker(), Worker()
    first = asyncio.ensure_future(_election(cluster, clock, "one").run(one.lead))
    await one.leads.wait()
    second = asyncio.ensure_future(_election(cluster, clock, "other").run(other.lead))

    await _end(first)
    assert one.has_ended.is_set()
    assert not other.leads.is_set()
    await _pass(clock, 1.0, other.leads)

    assert await _holder(cluster) == "other"
    await _end(second)
    assert await _holder(cluster) == ""


async def test_a_holder_that_is_gone_is_believed_until_its_lease_is_over(cluster: clusters.Cluster) -> None:
    clock, worker = ManualClock(), Worker()
    spec = {"holderIdentity": "gone", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}
    await cluster.client.create(places.LEASES, {"metadata": {"name": _NAME}, "spec": spec}, namespace=NAMESPACE)
    running = asyncio.ensure_future(_election(cluster, clock, "new").run(worker.lead))

    await _pass(clock, 1.0, worker.leads)

    assert clock.monotonic() > 15
    assert await _holder(cluster) == "new"
    await _end(running)


async def test_who_has_lost_the_lease_stops_to_lead(cluster: clusters.Cluster) -> None:
    clock, worker = ManualClock(), Worker()
    running = asyncio.ensure_future(_election(cluster, clock, "one").run(worker.lead))
    await worker.leads.wait()
    lease = await cluster.client.get(places.LEASES, f"{NAMESPACE}/{_NAME}")
    assert lease is not None

    def take(obj: dict[str, dict[str, str]]) -> None:
        obj["spec"]["holderIdentity"] = "thief"

    await cluster.client.change(places.LEASES, lease, take)
    await _pass(clock, 2.0, worker.has_ended)

    assert await _holder(cluster) == "thief"
    await _end(running)


async def test_a_leader_whose_store_does_not_answer_stops_before_its_lease_is_over(cluster: clusters.Cluster) -> None:
    clock, worker = ManualClock(), Worker()
    answered_twice = cluster.client.limited(RateLimiter(0.001, 2, ManualClock()))  # the third request waits for ever
    election = Election(answered_twice, clock, name=_NAME, identity="one")
    running = asyncio.ensure_future(election.run(worker.lead))
    await worker.leads.wait()

    await _seconds(clock, 12)

    assert worker.has_ended.is_set()
    running.cancel()
    await _seconds(clock, 12)
    assert running.done()


async def test_a_store_that_is_away_is_one_line_of_the_log(
    cluster: clusters.Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ManualClock()
    never_answered = cluster.client.limited(RateLimiter(0.001, 0, ManualClock()))
    running = asyncio.ensure_future(Election(never_answered, clock, name=_NAME, identity="one").run(Worker().lead))

    with caplog.at_level("INFO"):
        await _seconds(clock, 60)

    assert [record.getMessage() for record in caplog.records if "cannot acquire" in record.getMessage()] == [
        f"cannot acquire or renew the lease {_NAME}, retrying: no answer in time"
    ]
    await _end(running)


async def _seconds(clock: ManualClock, number: int) -> None:
    """Advance the time second by second, and let all tasks run."""
    for _ in range(number):
        clock.advance(1.0)
        for _ in range(10):
            await asyncio.sleep(0)
