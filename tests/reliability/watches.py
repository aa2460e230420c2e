"""watches: many watchers of config maps that change, and the check that each has seen what happened.

A watcher may be slow, may select by a label, and loses its connection now and then; it resumes at another replica from
the last version that it has seen. Must hold: its events are those of the history: in order, once, none left out. An
object that begins to fit a selector is ADDED, and one that ceases to fit is DELETED. A bookmark has the version of no
later event.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import aiohttp
import orjson
from msgspec import Struct

from tests.reliability import histories
from tests.reliability.histories import MAPS, Replica
from tests.reliability.outcomes import Outcome

_COLOURS = ("red", "blue")
_PAUSE = 0.002
_SECONDS = 30.0


class Event(Struct, frozen=True, gc=False):
    """One event of a watch. content and colour: of the object after it. content: of an error, what it says."""

    kind: str
    name: str
    version: int
    content: str
    colour: str


class Scale(Struct, frozen=True):
    """The size of one run. Of all watchers, a tenth is slow, and a fifth selects one colour."""

    watchers: int = 20
    writes: int = 300
    names: int = 10
    cuts: float = 0.02
    """The chance that a watcher loses its connection after an event."""


@dataclass(slots=True)
class Watcher:
    """What one watcher has seen. begin: the version at which it began, or that of the last bookmark."""

    colour: str = ""
    is_slow: bool = False
    begin: int = 0
    events: list[Event] = field(default_factory=list)
    flaws: list[str] = field(default_factory=list)
    resumed: int = 0
    is_open: bool = False
    """Whether its present watch has been answered."""

    def __str__(self) -> str:
        words = [self.colour or "no selector", "slow" * self.is_slow, "an open watch" if self.is_open else "no answer"]
        return f"a watcher with {', '.join(filter(None, words))}, which has resumed {self.resumed} times"

    @property
    def last(self) -> int:
        """The version up to which it has seen everything."""
        return max(self.events[-1].version, self.begin) if self.events else self.begin

    def take(self, event: Event) -> None:
        """Record an event, or check a bookmark."""
        last = self.last
        if event.version < last or (event.version == last and event.kind != "BOOKMARK"):
            self.flaws.append(f"{event.kind} {event.version} after {last}")
        if event.kind == "BOOKMARK":
            self.begin = max(self.begin, event.version)
        else:
            self.events.append(event)


class Reader:
    """What the lines of watches mean. Watchers get the same lines, and each line is parsed once."""

    def __init__(self) -> None:
        self._known: dict[bytes, Event] = {}

    async def events(self, response: aiohttp.ClientResponse) -> AsyncIterator[Event]:
        """The events of a watch, until it ends."""
        rest = b""
        async for chunk in response.content.iter_any():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield self._event(line)

    def _event(self, line: bytes) -> Event:
        event = self._known.get(line)
        if event is None:
            event = self._known[line] = _event_of(orjson.loads(line))
        return event


def _event_of(told: Mapping[str, Any]) -> Event:
    kind, obj = told["type"], told["object"]
    if kind == "ERROR":
        return Event(kind, "", 0, str(obj), "")
    metadata, data = obj["metadata"], obj.get("data") or {}
    version = int(metadata["resourceVersion"])
    return Event(kind, metadata.get("name", ""), version, data.get("content", ""), data.get("colour", ""))


class Writes:
    """The contents of acknowledged writes by their versions, and those of writes whose outcome is unknown."""

    def __init__(self) -> None:
        self.acknowledged: dict[int, str] = {}
        self.unknown: set[str] = set()


async def run(
    replicas: Sequence[Replica], *, scale: Scale, seed: int, trouble: AbstractAsyncContextManager[None] | None = None
) -> Outcome:
    """One run. Raises AssertionError with what a watcher has seen wrong. trouble: for the store, during the writes."""
    chance = random.Random(seed)
    reader = Reader()
    async with AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(histories.session(replica, seconds=None)) for replica in replicas]
        begin = await _version_of(sessions[0], fails=False)
        reference = Watcher(begin=begin)
        watchers = [_watcher(number, begin) for number in range(scale.watchers)]
        following = partial(follow, reader, fails=trouble is not None)
        tasks = [asyncio.create_task(following(sessions[:1], reference, random.Random(seed), cuts=0))]
        tasks += [
            asyncio.create_task(following(sessions, watcher, random.Random(f"{seed} {number}"), cuts=scale.cuts))
            for number, watcher in enumerate(watchers)
        ]
        try:
            async with trouble or nullcontext():
                written = await _write(sessions, scale, chance, seed, fails=trouble is not None)
            final = await _version_of(sessions[0], fails=trouble is not None)
            await _until_seen(tasks, [reference], {"": final})
            await _until_seen(tasks, watchers, _last_events(reference))
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, Exception):
            raise end
    check_reference(reference, written)
    for watcher in watchers:
        check(watcher, reference)
    resumed = sum(watcher.resumed for watcher in watchers)
    seen = sum(len(watcher.events) for watcher in watchers)
    counts = {"runs": 1, "writes": len(reference.events), "watchers": len(watchers), "events": seen}
    if trouble is not None:
        counts["writes of unknown outcome"] = len(written.unknown)
    return Outcome({**counts, "watches resumed": resumed, "watchers with a violation": 0})


def _watcher(number: int, begin: int) -> Watcher:
    return Watcher(colour=_COLOURS[number % 2] if number % 5 == 1 else "", is_slow=number % 10 == 0, begin=begin)


async def _version_of(session: aiohttp.ClientSession, *, fails: bool) -> int:
    """The present version. fails: whether the server may not answer yet."""
    while True:
        status, answer = await _ask(session, "GET", f"{MAPS}?limit=1")
        if status == 200:
            return int(answer["metadata"]["resourceVersion"])
        assert fails, answer
        await asyncio.sleep(_PAUSE)


async def follow(
    reader: Reader,
    sessions: Sequence[aiohttp.ClientSession],
    watcher: Watcher,
    chance: random.Random,
    *,
    cuts: float,
    fails: bool,
) -> None:
    """Watch until cancelled, and resume after each end. fails: whether a server may refuse a watch while it starts."""
    while True:
        params = {"watch": "1", "allowWatchBookmarks": "true", "resourceVersion": str(watcher.last)}
        if watcher.colour:
            params["labelSelector"] = f"colour={watcher.colour}"
        try:
            watcher.is_open = False
            async with chance.choice(sessions).get(MAPS, params=params) as response:
                if response.status != 200:
                    assert fails, await response.text()
                    await asyncio.sleep(_PAUSE)
                    continue
                watcher.is_open = True
                async for event in reader.events(response):
                    if event.kind == "ERROR":
                        watcher.flaws.append(f"the watch ended: {event.content}")
                        return
                    watcher.take(event)
                    if watcher.is_slow:
                        await asyncio.sleep(_PAUSE)
                    if chance.random() < cuts:
                        break
        except aiohttp.ClientError:
            await asyncio.sleep(_PAUSE)
        watcher.resumed += 1


async def _write(
    sessions: Sequence[aiohttp.ClientSession], scale: Scale, chance: random.Random, seed: int, *, fails: bool
) -> Writes:
    """Create, change and delete objects. fails: whether the store is in trouble, so that a write may fail."""
    written = Writes()
    numbers = count()

    async def work(names: Sequence[str]) -> None:
        exists = dict.fromkeys(names, False)
        while (number := next(numbers)) < scale.writes:
            name = chance.choice(names)
            session = chance.choice(sessions)
            if exists[name] and chance.random() < 0.2:
                status, answer = await _ask(session, "DELETE", f"{MAPS}/{name}")
                assert fails or status == 200, answer
                exists[name] = status != 200 and await _exists(session, name)
                continue
            content = f"content-{number}"
            method, path = ("PUT", f"{MAPS}/{name}") if exists[name] else ("POST", MAPS)
            status, answer = await _ask(session, method, path, _object(name, content, chance.choice(_COLOURS)))
            if status in (200, 201):
                written.acknowledged[int(answer["metadata"]["resourceVersion"])] = content
                exists[name] = True
            else:
                assert fails, answer
                written.unknown.add(content)
                exists[name] = await _exists(session, name)

    names = [f"watched-{seed}-{number}" for number in range(scale.names)]
    await asyncio.gather(*(work(names[start::4]) for start in range(4)))
    return written


async def _exists(session: aiohttp.ClientSession, name: str) -> bool:
    """Whether an object exists, as soon as the store answers."""
    while True:
        status, _ = await _ask(session, "GET", f"{MAPS}/{name}")
        if status in (200, 404):
            return status == 200
        await asyncio.sleep(_PAUSE)


async def _ask(session: aiohttp.ClientSession, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """The status and the object of an answer. The status is 0 when the answer was lost."""
    try:
        async with session.request(method, path, json=body) as response:
            return response.status, await response.json()
    except aiohttp.ClientError as exc:
        return 0, exc


def _object(name: str, content: str, colour: str) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"colour": colour}}
    return {"metadata": metadata, "data": {"content": content, "colour": colour}}


async def _until_seen(
    tasks: Sequence["asyncio.Task[None]"], watchers: Sequence[Watcher], last_for: Mapping[str, int]
) -> None:
    """Return when each watcher has its last event, or when no watcher has got an event for `_SECONDS`.

    `check` finds the watchers that miss events.
    """
    seen, waiting = -1, list(watchers)
    while waiting and seen < (now := sum(len(watcher.events) for watcher in watchers)):
        seen = now
        try:
            async with asyncio.timeout(_SECONDS):
                while waiting and not all(task.done() for task in tasks):
                    await asyncio.sleep(_PAUSE)
                    waiting = [one for one in waiting if one.last < last_for[one.colour] and not one.flaws]
                return
        except TimeoutError:
            continue


def _last_events(reference: Watcher) -> Mapping[str, int]:
    """The version of the last event that a watcher of each colour gets."""
    seen = {colour: _seen_by(colour, reference.events) for colour in ("", *_COLOURS)}
    return {colour: max((event.version for event in events), default=0) for colour, events in seen.items()}


def _seen_by(colour: str, events: Sequence[Event]) -> Iterator[Event]:
    """The events of a history that a watch with a selector gets."""
    fitting: set[str] = set()
    for event in events:
        fits = event.kind != "DELETED" and colour in ("", event.colour)
        if fits:
            kind = "MODIFIED" if event.name in fitting else "ADDED"
            fitting.add(event.name)
            yield Event(kind, event.name, event.version, event.content, event.colour)
        elif event.name in fitting:
            fitting.discard(event.name)
            yield Event("DELETED", event.name, event.version, "", "")


def check_reference(reference: Watcher, written: Writes) -> None:
    """The history has every acknowledged write once, and no other but writes of unknown outcome."""
    assert not reference.flaws, reference.flaws
    shown = {event.version: event.content for event in reference.events if event.kind != "DELETED"}
    wrong = shown.items() ^ written.acknowledged.items()
    assert all(shown.get(version) in written.unknown for version, _ in wrong), sorted(wrong)[:10]
    contents = list(shown.values())
    assert len(set(contents)) == len(contents), "a write has happened twice"


def check(watcher: Watcher, reference: Watcher) -> None:
    """A watcher has seen what the reference has seen, as far as it is for its selector."""
    assert not watcher.flaws, watcher.flaws
    wanted = list(_seen_by(watcher.colour, reference.events))
    seen = [
        event if event.kind != "DELETED" else Event("DELETED", event.name, event.version, "", "")
        for event in watcher.events
    ]
    wrong = next((place for place, pair in enumerate(zip(seen, wanted, strict=False)) if pair[0] != pair[1]), None)
    assert wrong is None, f"event {wrong}: {seen[wrong]} instead of {wanted[wrong]}"
    assert len(seen) == len(wanted), (
        f"{len(seen)} of {len(wanted)} events, the last is {seen[-1:]} instead of {wanted[-1:]}, at {watcher}"
    )
