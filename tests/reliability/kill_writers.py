"""kill_writers: clients that write to a server which is killed, and what they know of each object afterwards.

Must hold: a client writes no object again while a write of it is in doubt. An object must be as its last acknowledged
write left it, or as a later write did whose answer was lost.
"""

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson

from tests.reliability.histories import MAPS
from tests.reliability.outcomes import Latencies, Outcome

CLIENTS = 8
_WRITES_A_SECOND = 200
_NAMES = 5
"""The objects of each client."""

Content = str | None


@dataclass(slots=True)
class Claim:
    """What is known of an object: the last acknowledged content, and the contents of later writes without an answer."""

    content: Content = None
    in_doubt: list[Content] = field(default_factory=list)
    was_checked: bool = False
    """Whether all processes have ended since, and a check then found the acknowledged content."""
    story: list[str] = field(default_factory=list)
    """What happened, for a message about a violation."""

    def note(self, what: str) -> None:
        self.story = [*self.story[-8:], what]

    def acknowledge(self, content: Content) -> None:
        self.content, self.in_doubt, self.was_checked = content, [], False

    def check(self, name: str, found: Content, *, is_final: bool) -> bool:
        """Compare with the store. Returns whether a write in doubt has happened.

        is_final: all processes of the server have ended since the last check. A process that lives may still have a
        write in doubt, and etcd for a moment: so it stays in doubt for two final checks.
        """
        assert found == self.content or found in self.in_doubt, f"{name}: {found} instead of {self}"
        happened = found != self.content
        self.note(f"listed {found}")
        if happened or (is_final and self.was_checked) or not self.in_doubt:
            self.acknowledge(found)
        else:
            self.was_checked = self.was_checked or is_final
        return happened


@dataclass(slots=True)
class Totals:
    """What all rounds have seen. version: the highest resourceVersion of an acknowledged write."""

    kills: int = 0
    acknowledged: int = 0
    in_doubt: int = 0
    in_doubt_and_written: int = 0
    version: int = 0
    latencies: Latencies = field(default_factory=Latencies)

    def outcome(self, text: str) -> Outcome:
        counts = {
            "kills": self.kills,
            "acknowledged writes": self.acknowledged,
            "writes without an answer": self.in_doubt,
            "of these in the store": self.in_doubt_and_written,
            "lost writes": 0,
            "resourceVersions that went back": 0,
        }
        return Outcome(counts, moments=self.latencies.moments(), text=text)


class Writer:
    """One client with objects of its own, which it creates, updates and deletes one write at a time."""

    def __init__(self, number: int, seed: int, totals: Totals) -> None:
        self.claims = {f"written-{seed}-{number}-{one}": Claim() for one in range(_NAMES)}
        self._chance = random.Random(f"{seed} {number}")
        self._totals = totals
        self._written = 0

    async def work(self, session: aiohttp.ClientSession, stop: asyncio.Event) -> None:
        """Write 200 times a second together with the other clients. A request that has begun is waited for."""
        while not stop.is_set():
            await asyncio.sleep(self._chance.uniform(0, 2 * CLIENTS / _WRITES_A_SECOND))
            await self._write(session, self._chance.choice(list(self.claims)))

    async def _write(self, session: aiohttp.ClientSession, name: str) -> None:
        claim = self.claims[name]
        if claim.in_doubt:
            return
        method, content = self._planned(claim)
        claim.in_doubt.append(content)
        claim.note(f"{method} {content}")
        self._totals.in_doubt += 1
        body = {"metadata": {"name": name}, "data": {"content": content}} if content else None
        path = MAPS if method == "POST" else f"{MAPS}/{name}"
        with suppress(aiohttp.ClientError, TimeoutError, orjson.JSONDecodeError):
            with self._totals.latencies.measured():
                async with session.request(method, path, json=body) as response:
                    answer = orjson.loads(await response.read())
            self._take(claim, response.status, answer, content)

    def _planned(self, claim: Claim) -> tuple[str, Content]:
        self._written += 1
        content = f"content-{self._written}"
        if claim.content is None:
            return "POST", content
        return ("DELETE", None) if self._chance.random() < 0.2 else ("PUT", content)

    def _take(self, claim: Claim, status: int, answer: Any, content: Content) -> None:
        """Note an answer. One of a server that cannot reach its store leaves the outcome open."""
        claim.note(f"status {status}")
        if status >= 500 or status == 429:
            return
        assert status in (200, 201), f"{claim}: {answer}"
        self._totals.in_doubt -= 1
        self._totals.acknowledged += 1
        claim.acknowledge(content)
        if content is not None:
            self._totals.version = max(self._totals.version, int(answer["metadata"]["resourceVersion"]))
