"""Watches show every event once and in order, through lost connections and other replicas."""

import random
from collections.abc import Sequence

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.server_settings import ServerSettings
from tests.reliability import histories, watches
from tests.reliability.histories import Replica, replica_of
from tests.reliability.watches import Event, Reader, Scale, Watcher
from tests.storage.kv.etcd_server import Member

SMALL = Scale(watchers=10, writes=150, names=8)


async def test_watchers_of_one_server_see_every_event_once() -> None:
    async with Server(storage_backend="sqlite") as server:
        assert (await watches.run([replica_of(server)], scale=SMALL, seed=1)).counts["watchers"] == SMALL.watchers


async def test_watchers_resume_at_another_replica_without_a_gap() -> None:
    with Member() as member:
        settings = ServerSettings(storage_backend="etcd3", etcd_servers=member.endpoint)
        async with Server(**settings) as one, Server(**settings) as other:
            seen = await watches.run([replica_of(one), replica_of(other)], scale=SMALL, seed=2)

    assert seen.counts["watches resumed"] > 0


async def test_a_watch_that_is_refused_without_trouble_ends_the_run() -> None:
    async with Server() as server:
        stranger = Replica(server.url, "no token of this server", server.tls)
        async with histories.session(stranger) as session:
            with pytest.raises(AssertionError, match="Unauthorized"):
                await watches.follow(Reader(), [session], Watcher(), random.Random(0), cuts=0, fails=False)


HISTORY = [
    Event("ADDED", "a", 1, "one", "red"),
    Event("MODIFIED", "a", 2, "two", "blue"),
    Event("MODIFIED", "a", 3, "three", "red"),
    Event("DELETED", "a", 4, "three", "red"),
]


@pytest.mark.parametrize(
    ("colour", "seen"),
    [("", HISTORY[:3]), ("", [HISTORY[0], *HISTORY[2:]]), ("red", [*HISTORY[:1], *HISTORY[2:]])],
    ids=["the last event is missing", "an event is left out", "an object does not leave"],
)
def test_a_watcher_that_misses_something_is_found(colour: str, seen: Sequence[Event]) -> None:
    with pytest.raises(AssertionError, match="instead of"):
        watches.check(Watcher(colour=colour, events=list(seen)), Watcher(events=HISTORY))


def test_a_watcher_with_a_selector_sees_objects_enter_and_leave() -> None:
    seen = [
        HISTORY[0],
        Event("DELETED", "a", 2, "two", "blue"),
        Event("ADDED", "a", 3, "three", "red"),
        HISTORY[3],
    ]

    watches.check(Watcher(colour="red", events=seen), Watcher(events=HISTORY))


def test_an_event_that_comes_again_or_behind_a_bookmark_is_found() -> None:
    watcher = Watcher()
    for kind, version in (("ADDED", 5), ("ADDED", 5), ("BOOKMARK", 7), ("BOOKMARK", 7), ("MODIFIED", 6)):
        watcher.take(Event(kind, "a", version, "", ""))

    assert watcher.flaws == ["ADDED 5 after 5", "MODIFIED 6 after 7"]
