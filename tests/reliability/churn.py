"""churn: config maps that are created, updated and deleted at an even rate, beside clients that list and watch."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.reliability.histories import MAPS
from tests.reliability.outcomes import Latencies

WRITES_A_SECOND = 200
_NAMES = 60
_CLIENTS = 4


@dataclass
class Churn:
    """The writers of one run, and their counts. Each has objects of its own; one object of each is not deleted."""

    sessions: Sequence[aiohttp.ClientSession]
    seed: int
    writes: int = 0
    version: int = 0
    """The version of the last write that was answered."""
    latencies: Latencies = field(default_factory=Latencies)

    @property
    def lasting(self) -> Sequence[str]:
        """The objects that exist all the time, once `begin` has been called."""
        return [f"churn-{number:02}" for number in range(_CLIENTS)]

    async def begin(self) -> None:
        """Create all objects that do not exist."""
        for number in range(_NAMES):
            with suppress(aiohttp.ClientResponseError):  # it is there from an earlier run
                name = f"churn-{number:02}"
                await self._ask(self.sessions[0], "POST", MAPS, _object(name, "0"))

    async def mark(self, content: str) -> None:
        """A last write, after which a client that has seen it has seen everything."""
        await self._ask(self.sessions[0], "PUT", f"{MAPS}/{self.lasting[0]}", _object(self.lasting[0], content))

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Write 200 times a second meanwhile."""
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            for number in range(_CLIENTS):
                tasks.create_task(self._write(number, stop))
            try:
                yield
            finally:
                stop.set()

    async def _write(self, number: int, stop: asyncio.Event) -> None:
        chance = random.Random(f"{self.seed} {number} {self.writes}")
        session = self.sessions[number % len(self.sessions)]
        names = [f"churn-{name:02}" for name in range(number, _NAMES, _CLIENTS)]
        listed = await self._ask(session, "GET", MAPS)
        existing = {item["metadata"]["name"] for item in listed["items"]}
        pace = _CLIENTS / WRITES_A_SECOND
        due = time.monotonic()
        while not stop.is_set():
            name = chance.choice(names)
            content = f"{self.seed}-{self.writes}" * chance.choice((1, 40))
            if name not in existing:
                await self._ask(session, "POST", MAPS, _object(name, content))
                existing.add(name)
            elif chance.random() < 0.3 and name not in self.lasting:
                await self._ask(session, "DELETE", f"{MAPS}/{name}")
                existing.discard(name)
            else:
                await self._ask(session, "PUT", f"{MAPS}/{name}", _object(name, content))
            due = max(due + pace, time.monotonic() - 1)
            await asyncio.sleep(due - time.monotonic())

    async def _ask(self, session: aiohttp.ClientSession, method: str, path: str, body: Any = None) -> Any:
        with self.latencies.measured():
            async with session.request(method, path, json=body, raise_for_status=True) as response:
                answer = await response.json()
        if method != "GET":
            self.writes += 1
            self.version = max(self.version, int(answer["metadata"].get("resourceVersion", 0)))
        return answer


def _object(name: str, content: str) -> Any:
    return {"metadata": {"name": name}, "data": {"content": content}}
