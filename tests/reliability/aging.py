"""aging: the embedded store over days of lease renewals, in compressed time.

A thousand leases are renewed every ten seconds of a clock that runs ahead, beside objects that expire. The clock is set
forward and back, the disk is full for a while, and the store is opened again. Must hold: the file has at most three
times the live data besides the history of the compaction window and the log; a write costs no more in the end than in
the beginning; objects expire in time; a full disk is told, and the store recovers by itself.
"""

import asyncio
import os
import time
from collections import deque
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aio_apiserver.base.clock import Clock, ManualClock, SystemClock
from aio_apiserver.storage import leases
from aio_apiserver.storage.errors import KeyExists, NoSpace
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.health import Health
from aio_apiserver.storage.interface import ListOptions, Resource
from aio_apiserver.storage.store import compactor
from tests.reliability.outcomes import Latencies, Outcome
from tests.storage.kv import small_disk
from tests.storage.steps import setting

SHARE = "file without the history of the window, of three times the live data and the log"
DRIFT = "CPU time of a write in the last eighth, of that in the second"
LEASES = Resource(group="coordination.k8s.io", resource="leases", namespaced=True)
EVENTS = Resource(group="", resource="events", namespaced=True)
_RENEWAL = 10.0
"""The seconds of compressed time between two renewals of a lease."""
_TTL = 1_800
_AT_ONCE = 32
_WINDOW, _WINDOW_AFTER_START = 2 * compactor.INTERVAL, 4 * compactor.INTERVAL
"""The longest history that is kept. A server that starts lets two intervals pass before it compacts."""
_LOG_BYTES = 32 << 20
"""The most of the write-ahead log, and of what is free in the file."""
_JUMP = 3600.0
_PHASES = 8
_PATIENCE = 60.0
_PADDINGS = (300_000, 3_000, 1)
"""A disk is full when the smallest write is refused, too."""


class CompressedClock(ManualClock):
    """The product's time moves when it is advanced, and may jump; waiting for others takes real time."""

    @property
    def patience(self) -> Clock:
        return SystemClock()

    def jump(self, seconds: float) -> None:
        """Set the time of day forward or back, as an administrator or NTP does."""
        self._now += seconds


@dataclass
class Phase:
    """An eighth of the run: the share of CPU time of a write, and its p99."""

    writes: int = 0
    cpu: float = 0.0
    latencies: Latencies = field(default_factory=Latencies)

    @property
    def microseconds(self) -> float:
        return self.cpu / self.writes * 1e6

    @property
    def p99(self) -> float:
        return self.latencies.moments(1)[0].p99


class Aging:
    """One run on a store in a directory. writes: the renewals of all leases together.

    has_disk: the directory is on a small file system of its own, which the run may fill.
    """

    def __init__(self, directory: Path, *, writes: int, leases: int = 1_000, has_disk: bool = False) -> None:
        self._directory = directory
        self._has_disk = has_disk
        self._count = leases
        self._rounds = max(writes // leases, _PHASES)
        self._clock = CompressedClock()
        self._latencies = Latencies()
        self._phases = [Phase() for _ in range(_PHASES)]
        self._window: deque[tuple[float, int]] = deque()
        self._live = 0
        self._written = 0
        self._largest = 0.0
        self._shares: list[float] = []
        self._full = 0
        self._stack = AsyncExitStack()

    async def run(self) -> Outcome:
        await self._open()
        try:
            for number in range(self._rounds):
                phase, is_first = divmod(number * _PHASES, self._rounds)
                if number and is_first < _PHASES:
                    await self._trouble(phase)
                await self._renew(self._phases[phase], number)
                await self._elapse()
        finally:
            await self._stack.aclose()
        return self._outcome()

    async def _open(self) -> None:
        self._stack, self._opened_at = AsyncExitStack(), self._clock.monotonic()
        config = StorageConfig(data_dir=self._directory)
        self._factory = await self._stack.enter_async_context(StorageFactory(config, clock=self._clock))
        self._leases, self._events = map(self._factory.storage_for, (LEASES, EVENTS))
        for number in range(self._count):
            with suppress(KeyExists):  # the store was opened again
                stored = await self._leases.create(f"default/node-{number}", _lease(number))
                self._live += len(stored.json)

    async def _trouble(self, phase: int) -> None:
        """What happens at the beginning of a phase."""
        match phase:
            case 2:
                self._clock.jump(_JUMP)
            case 3:
                self._clock.jump(-2 * _JUMP)
            case 4:
                if self._has_disk:
                    await self._fill_and_free()
            case 5:
                await self._stack.aclose()
                self._clock.jump(_JUMP)
                await self._open()

    async def _renew(self, phase: Phase, number: int) -> None:
        """Renew all leases, and create an event that expires."""
        cpu = time.process_time()
        numbers = iter(range(self._count))
        sizes = await asyncio.gather(*(self._work(numbers, phase, f"renewal {number}") for _ in range(_AT_ONCE)))
        event = await self._events.create(f"default/event-{number}", _event(number), ttl=_TTL)
        phase.cpu += time.process_time() - cpu
        phase.writes += self._count
        self._written += self._count
        self._window.append((self._clock.monotonic(), sum(sizes) + len(event.json)))

    async def _work(self, numbers: Any, phase: Phase, content: str) -> int:
        size = 0
        for number in numbers:
            began = time.monotonic()
            stored = await self._leases.guaranteed_update(f"default/node-{number}", setting(renewTime=content))
            ended = time.monotonic()
            phase.latencies.add(began, ended)
            self._latencies.add(began, ended)
            size += len(stored.json)
        return size

    async def _elapse(self) -> None:
        """Advance the time, and measure the file before a compaction is due."""
        self._clock.advance(_RENEWAL)
        await asyncio.sleep(0)
        now = self._clock.monotonic()
        kept = _WINDOW if now - self._opened_at > _WINDOW_AFTER_START else _WINDOW_AFTER_START
        while self._window and self._window[0][0] < now - _WINDOW_AFTER_START - _RENEWAL:
            self._window.popleft()
        history = sum(size for moment, size in self._window if moment >= now - kept - _RENEWAL)
        size = self._factory.statistics()["backends"]["etcd"]["kv"]["bytes"]
        self._largest = max(self._largest, size)
        self._shares.append((size - history) / (3 * self._live + _LOG_BYTES))
        if len(self._shares) % 60 == 0:
            await self._check_events()

    async def _check_events(self) -> None:
        """Events expire after their time, and not before."""
        listed = await self._events.get_list("", ListOptions())
        since = (self._clock.monotonic() - self._opened_at) / _RENEWAL
        least, most = min(since, _TTL / _RENEWAL) - 2, (_TTL + leases.REUSE_SECONDS) / _RENEWAL + 5
        assert least <= len(listed.items) <= most, f"{len(listed.items)} events, {least:.0f} to {most:.0f} are right"

    async def _fill_and_free(self) -> None:
        """Fill the disk until a write is refused, look at the health, and free it."""
        ballast = self._directory.with_name("ballast")
        await asyncio.to_thread(small_disk.fill, ballast, room=0)
        async with asyncio.timeout(_PATIENCE):
            for padding in _PADDINGS:
                while not await self._is_refused(padding):
                    pass
        health = (await self._factory.health())["etcd"]
        assert not health.healthy
        assert str(self._directory) in health.reason, health.reason
        assert len((await self._leases.get_list("", ListOptions())).items) == self._count, "reads work on a full disk"
        self._full += 1
        ballast.unlink()
        async with asyncio.timeout(_PATIENCE):
            while (await self._factory.health())["etcd"] != Health(healthy=True):  # noqa: ASYNC110 - it is asked for
                await asyncio.sleep(0.01)
        await self._leases.guaranteed_update("default/node-0", setting(padding=""))

    async def _is_refused(self, padding: int) -> bool:
        try:
            padded = setting(padding=os.urandom(padding).hex(), number=len(self._window))
            stored = await self._leases.guaranteed_update("default/node-0", padded)
        except NoSpace:
            return True
        self._window.append((self._clock.monotonic(), len(stored.json)))
        return False

    def _outcome(self) -> Outcome:
        first, last = self._phases[1], self._phases[-1]
        most = {
            "largest file in MB": self._largest / 1e6,
            SHARE: max(self._shares),
        }
        if self._rounds * _RENEWAL / _PHASES >= _WINDOW_AFTER_START:  # in the second eighth, compactions go on already
            most[DRIFT] = last.microseconds / first.microseconds
            most["p99 of a write in the last eighth, of that in the second"] = last.p99 / first.p99
        counts = {
            "lease updates": self._written,
            "hours of the store's time": round(self._clock.monotonic() / 3600),
            "jumps of the clock": 3,
            "full disks": self._full,
        }
        return Outcome(counts, most, self._latencies.moments())


def _lease(number: int) -> Any:
    metadata = {"name": f"node-{number}", "namespace": "default", "uid": f"uid-{number}"}
    spec = {"holderIdentity": f"node-{number}", "leaseDurationSeconds": 40, "renewTime": "", "text": "a" * 200}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def _event(number: int) -> Any:
    metadata = {"name": f"event-{number}", "namespace": "default", "uid": f"uid-{number}"}
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "message": "something " * 20}
