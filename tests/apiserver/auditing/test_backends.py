"""Backends: batches, limits, and the records of lost events."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from aio_apiserver.apiserver.auditing.backends import FailureReports, Lenient, Truncating, Union
from aio_apiserver.apiserver.auditing.buffered import MOST_BYTES, Batching, Buffered
from aio_apiserver.apiserver.metrics.audit import AuditMetrics
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.generic.audit.trail import Event


class Kept:
    """A backend that keeps its events."""

    def __init__(self, *, is_well: bool = True) -> None:
        self.batches: list[list[Event]] = []
        self.arrived = asyncio.Event()
        self.is_closed = False
        self._is_well = is_well

    async def process(self, events: Sequence[Event]) -> bool:
        self.batches.append(list(events))
        self.arrived.set()
        return self._is_well

    async def close(self) -> None:
        self.is_closed = True


def event(name: str, **more: Any) -> Event:
    begin = {"level": "Request", "auditID": name, "stage": "ResponseComplete"}
    return {**begin, "requestReceivedTimestamp": "2023-11-14T22:13:20.000000Z", **more}


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def lost(metrics: AuditMetrics, plugin: str) -> float:
    errors = next(family for family in metrics.families() if family.name == "apiserver_audit_error_total")
    return errors.of(plugin).value  # type: ignore[union-attr]


async def test_a_batch_goes_when_it_is_full_or_when_it_is_time() -> None:
    clock, kept = ManualClock(), Kept()
    batching = Batching(most_waiting=10, most=2, most_seconds=30)
    buffered = Buffered(kept, batching, clock, FailureReports(AuditMetrics()))

    await buffered.process([event("1"), event("2")])
    await settle()
    full = list(kept.batches)
    await buffered.process([event("3")])
    await settle()
    waiting = len(kept.batches)
    clock.advance(30)
    await settle()

    assert [[one["auditID"] for one in batch] for batch in full] == [["1", "2"]]
    assert (waiting, [one["auditID"] for one in kept.batches[-1]]) == (1, ["3"])
    await buffered.close()


@pytest.mark.parametrize("is_parallel", [False, True])
async def test_what_waits_at_the_end_is_sent(is_parallel: bool) -> None:
    kept = Kept()
    batching = Batching(most_waiting=10, most=5, most_seconds=30, is_parallel=is_parallel)
    buffered = Buffered(kept, batching, ManualClock(), FailureReports(AuditMetrics()))

    await buffered.process([event("1"), event("2")])
    await buffered.close()

    assert [[one["auditID"] for one in batch] for batch in kept.batches] == [["1", "2"]]
    assert kept.is_closed


async def test_what_does_not_fit_into_the_buffer_is_lost_and_told(caplog: pytest.LogCaptureFixture) -> None:
    kept, metrics = Kept(), AuditMetrics()
    batching = Batching(most_waiting=2, most=5, most_seconds=30)
    buffered = Buffered(kept, batching, ManualClock(), FailureReports(metrics))

    told = await buffered.process([event("1"), event("2"), event("3", requestObject="hidden")])
    await buffered.close()

    assert told
    assert lost(metrics, "buffered") == 1
    assert 'id="3"' in caplog.text
    assert "hidden" not in caplog.text


async def test_the_buffer_is_bounded_by_bytes_until_its_events_are_sent() -> None:
    clock, kept, metrics = ManualClock(), Kept(), AuditMetrics()
    buffered = Buffered(kept, Batching(most_waiting=100, most=50, most_seconds=30), clock, FailureReports(metrics))
    large = event("1", requestObject="x" * (MOST_BYTES // 4))

    await buffered.process([large] * 4)
    lost_at_first = lost(metrics, "buffered")
    await settle()
    clock.advance(30)
    await settle()
    await buffered.process([large] * 3)
    await buffered.close()

    assert (lost_at_first, lost(metrics, "buffered")) == (1, 1)
    assert [len(batch) for batch in kept.batches] == [3, 3]


async def test_batches_keep_to_their_rate() -> None:
    clock, kept = ManualClock(), Kept()
    batching = Batching(most_waiting=10, most=1, most_seconds=30, per_second=2, burst=1)
    buffered = Buffered(kept, batching, clock, FailureReports(AuditMetrics()))

    await buffered.process([event("1"), event("2")])
    await settle()
    first = len(kept.batches)
    clock.advance(0.5)
    await settle()

    assert (first, len(kept.batches)) == (1, 2)
    await buffered.close()


async def test_an_event_that_is_too_big_goes_without_its_bodies_or_not_at_all() -> None:
    kept, metrics = Kept(), AuditMetrics()
    backend = Truncating(kept, FailureReports(metrics), most_of_event=250, most_of_batch=250)
    big = event("1", requestObject="x" * 300)
    huge = event("2", requestURI="x" * 300)

    await backend.process([big, huge, event("3")])

    sent = [one for batch in kept.batches for one in batch]
    assert [one["auditID"] for one in sent] == ["1", "3"]
    assert len(kept.batches) == 2
    assert "requestObject" not in sent[0]
    assert sent[0]["annotations"] == {"audit.k8s.io/truncated": "true"}
    assert lost(metrics, "truncate") == 1


async def test_all_backends_are_told_even_if_one_fails() -> None:
    bad, good = Kept(is_well=False), Kept()

    assert not await Union([bad, good]).process([event("1")])
    assert await Lenient(bad).process([event("1")])
    assert len(good.batches) == 1
