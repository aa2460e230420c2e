"""Fanout: which watchers get which changes, in which batches."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from aio_apiserver.base.yielding import MAX_STEPS
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.interface import WatchBatch, WatchEvent, WatchEventType
from tests.storage.cacher.fanning import Parts, Sink
from tests.storage.cacher.objects import Decodings, broken, gone, put, stored
from tests.storage.steps import labelled, shapes, with_field

ADDED, MODIFIED, DELETED = WatchEventType.ADDED, WatchEventType.MODIFIED, WatchEventType.DELETED


@pytest.fixture
async def parts() -> AsyncIterator[Parts]:
    parts = Parts()
    yield parts
    await parts.close()


async def a_turn() -> None:
    await asyncio.sleep(0)


async def test_changes_of_one_turn_go_out_in_one_batch(parts: Parts) -> None:
    sink = Sink()
    parts.watch(sink)

    parts.write_keys(11, "default/a", "default/b", "default/c")
    await a_turn()

    assert [len(batch.events) for batch in sink.batches] == [3]
    assert sink.revisions == [11, 12, 13]


async def test_watchers_of_the_same_share_their_batches_and_bytes(parts: Parts) -> None:
    encoded: list[Sequence[WatchEvent]] = []

    def encoder(events: Sequence[WatchEvent]) -> bytes:
        encoded.append(events)
        return b"frame"

    sinks = [Sink() for _ in range(3)]
    for sink in sinks:
        parts.watch(sink, "default/", predicate=labelled(app="web"))
    parts.write(put(stored("default/a", 11, labels={"app": "web"})))
    await a_turn()

    frames = [sink.batches[0].encoded(encoder) for sink in sinks]

    assert sinks[0].batches[0] is sinks[1].batches[0] is sinks[2].batches[0]
    assert frames == [b"frame"] * 3
    assert len(encoded) == 1


async def test_groups_that_see_the_same_events_share_their_bytes(parts: Parts) -> None:
    web, all_, other = Sink(), Sink(), Sink()
    parts.watch(web, predicate=labelled(app="web"))
    parts.watch(all_)
    parts.watch(other, "other/")
    parts.write(put(stored("default/a", 11, labels={"app": "web"})), put(stored("other/b", 12)))
    parts.write(put(stored("default/a", 13, labels={"app": "web"}, replicas=2)))
    await a_turn()
    parts.write(put(stored("default/a", 14, labels={"app": "web"}, replicas=3)))
    await a_turn()

    def encoder(events: Sequence[WatchEvent]) -> bytes:
        return b" ".join(b"%d" % event.revision for event in events)

    frames = [[batch.encoded(encoder) for batch in sink.batches] for sink in (web, all_, other)]

    assert frames == [[b"11 13", b"14"], [b"11 12 13", b"14"], [b"12"]]
    assert frames[0][1] is frames[1][1]


async def test_a_turn_of_large_objects_is_short(parts: Parts) -> None:
    sink = Sink()
    parts.watch(sink)

    parts.write(*(put(stored(f"default/{number}", 11 + number, text="x" * 1_500_000)) for number in range(4)))
    await sink.take(4)

    assert [len(batch.events) for batch in sink.batches] == [3, 1]


async def test_each_group_sees_its_scope_and_selection(parts: Parts) -> None:
    everything, namespace, one, selected, triggered = (Sink() for _ in range(5))
    parts.watch(everything)
    parts.watch(namespace, "default/")
    parts.watch(one, "default/a", recursive=False)
    parts.watch(selected, predicate=labelled(app="web"))
    parts.watch(triggered, "default/", predicate=with_field("spec.color", "red"))

    parts.write(
        put(stored("default/a", 11)),
        put(stored("default/ab", 12, labels={"app": "web"})),
        put(stored("other/a", 13, color="red")),
        put(stored("default/c", 14, color="red")),
    )
    await a_turn()

    assert everything.keys == ["default/a", "default/ab", "other/a", "default/c"]
    assert namespace.keys == ["default/a", "default/ab", "default/c"]
    assert one.keys == ["default/a"]
    assert selected.keys == ["default/ab"]
    assert triggered.keys == ["default/c"]


async def test_a_trigger_group_sees_what_leaves_and_enters_it(parts: Parts) -> None:
    red, blue = Sink(), Sink()
    parts.watch(red, predicate=with_field("spec.color", "red"))
    parts.watch(blue, predicate=with_field("spec.color", "blue"))
    last = stored("default/a", 13, color="blue")

    parts.write(
        put(stored("default/a", 11, color="red")),
        put(stored("default/a", 12, color="blue")),
        put(last),
        gone(last, 14),
    )
    await a_turn()

    assert shapes(red.events) == [(ADDED, "default/a"), (DELETED, "default/a")]
    assert shapes(blue.events) == [(ADDED, "default/a"), (MODIFIED, "default/a"), (DELETED, "default/a")]
    assert red.revisions == [11, 12]


async def test_a_change_meets_only_the_groups_that_may_see_it(parts: Parts) -> None:
    asked: list[str] = []

    class Asked(Sink):
        def deliver(self, batch: WatchBatch) -> None:
            asked.append(self.name)
            super().deliver(batch)

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    for number in range(500):
        parts.watch(Asked(f"node-{number}"), predicate=with_field("spec.color", f"node-{number}"))
    parts.write(put(stored("default/a", 11, color="node-7")))
    await a_turn()

    assert asked == ["node-7"]
    assert parts.fanout.statistics()["groups"] == 500


async def test_without_watchers_a_change_is_not_decoded(parts: Parts) -> None:
    decodings = Decodings()

    parts.write(put(stored("default/a", 11, reader=decodings.reader)))
    await a_turn()

    assert decodings.count == 0
    assert parts.fanout.position.revision == 11


async def test_a_change_is_decoded_once_for_all_groups(parts: Parts) -> None:
    decodings = Decodings()
    for predicate in (labelled(app="web"), labelled(app="db"), with_field("spec.color", "red")):
        parts.watch(Sink(), predicate=predicate)
    last = stored("default/a", 11, labels={"app": "web"}, color="red", reader=decodings.reader)

    parts.write(put(last), gone(last, 12))
    await a_turn()

    assert decodings.count == 1  # the object; its deletion shows the same


async def test_who_joins_between_a_change_and_its_turn_sees_it_once(parts: Parts) -> None:
    early, late, later = Sink(), Sink(), Sink()
    parts.watch(early)
    parts.write_keys(11, "default/a")

    parts.watch(late, revision=10)
    parts.watch(later, revision=11)
    parts.write_keys(12, "default/b")
    await a_turn()

    assert early.revisions == late.revisions == [11, 12]
    assert later.revisions == [12]


async def test_a_long_queue_goes_out_in_several_turns(parts: Parts) -> None:
    sink = Sink()
    parts.watch(sink)
    keys = [f"default/{number}" for number in range(2 * MAX_STEPS + 1)]
    parts.write_keys(11, *keys)

    positions = []
    while parts.fanout.position.revision < 10 + len(keys):
        await a_turn()
        positions.append(parts.fanout.position.revision)

    assert positions == [10 + MAX_STEPS, 10 + 2 * MAX_STEPS, 10 + len(keys)]
    assert sink.revisions == list(range(11, 11 + len(keys)))


async def test_other_work_in_the_turn_of_a_short_delivery_delays_no_event(parts: Parts) -> None:
    sink = Sink()
    parts.watch(sink)
    parts.write_keys(11, "default/a")
    asyncio.get_running_loop().call_soon(parts.clock.advance, 0.02)
    await a_turn()

    parts.write_keys(12, "default/b")
    await a_turn()

    assert sink.revisions == [11, 12]


class Busy(Sink):
    """A watcher with a slow connection, to which each delivery takes so many seconds."""

    def __init__(self, parts: Parts, seconds: float = 0.02) -> None:
        super().__init__()
        self._parts = parts
        self._seconds = seconds

    def deliver(self, batch: WatchBatch) -> None:
        super().deliver(batch)
        self._parts.clock.advance(self._seconds)


async def test_behind_a_turn_that_took_long_what_comes_is_collected_for_as_long(parts: Parts) -> None:
    sink = Busy(parts)
    parts.watch(sink)
    parts.write_keys(11, "default/a")
    await a_turn()
    parts.write_keys(12, "default/b", "default/c")
    await a_turn()
    parts.write_keys(14, "default/d")
    await a_turn()
    parts.write_keys(15, "default/e")
    await a_turn()
    before = list(sink.revisions)
    parts.clock.advance(0.02)
    await a_turn()

    assert before == [11, 12, 13]
    assert [len(batch.events) for batch in sink.batches] == [1, 2, 2]


@pytest.mark.parametrize(("turn", "rest"), [(0.002, 0.006), (0.004, 0.008), (0.01, 0.01)])
async def test_behind_a_short_turn_what_comes_is_collected_for_longer(parts: Parts, turn: float, rest: float) -> None:
    sink = Busy(parts, turn)
    parts.watch(sink)
    for revision, key in enumerate(("default/a", "default/b"), 11):
        parts.write_keys(revision, key)
        await a_turn()
    parts.write_keys(13, "default/c")
    counts = []
    for seconds in (0, rest - 0.0005, 0.001):
        parts.clock.advance(seconds)
        await a_turn()
        await a_turn()
        counts.append(len(sink.revisions))

    assert counts == [2, 2, 3]


async def test_at_a_low_rate_a_change_goes_out_at_once_behind_a_turn_that_took_long(parts: Parts) -> None:
    sink = Busy(parts)
    parts.watch(sink)

    for revision, key in enumerate(("default/a", "default/b", "default/c"), 11):
        parts.write_keys(revision, key)
        await a_turn()
        await a_turn()
        parts.clock.advance(0.01)

    assert [len(batch.events) for batch in sink.batches] == [1, 1, 1]


async def test_who_joins_within_a_long_queue_sees_every_change_once(parts: Parts) -> None:
    parts.watch(Sink())
    total = 3 * MAX_STEPS
    parts.write_keys(11, *(f"default/{number}" for number in range(total)))
    sinks = {revision: Sink() for revision in (10, 10 + MAX_STEPS, 11 + MAX_STEPS, 10 + total, 12 + total)}

    for revision, sink in sinks.items():
        parts.watch(sink, revision=revision)
    await a_turn()
    parts.write_keys(11 + total, *(f"other/{number}" for number in range(5)))
    for revision, sink in sinks.items():
        await sink.take(15 + total - revision)

    for revision, sink in sinks.items():
        assert sink.revisions == list(range(revision + 1, 16 + total))


async def test_a_turn_ends_between_two_revisions(parts: Parts) -> None:
    parts.watch(Sink())
    parts.write_keys(11, *(f"default/{number}" for number in range(MAX_STEPS - 1)))
    revision = 11 + MAX_STEPS
    parts.cache.apply([put(stored(f"other/{number}", revision)) for number in range(5)])
    parts.write_keys(revision + 1, "default/last")

    await a_turn()
    sink = Sink()
    position = parts.fanout.position.revision
    parts.watch(sink, revision=position)
    await sink.take(1)

    assert position == revision
    assert sink.keys == ["default/last"]


async def test_changes_that_come_when_all_have_left_a_queue_are_not_lost_for_who_comes(parts: Parts) -> None:
    first = parts.watch(Sink())
    parts.write_keys(11, *(f"default/{number}" for number in range(2 * MAX_STEPS)))
    await a_turn()
    first.stop()
    newest = 11 + 2 * MAX_STEPS
    parts.write_keys(newest, "other/a")
    sink = Sink()
    position = parts.fanout.position.revision

    parts.watch(sink, revision=position)
    await sink.take(newest - position)

    assert sink.revisions == list(range(position + 1, newest + 1))


async def test_a_sink_that_fails_is_ended_and_costs_the_others_nothing(
    parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Sink):
        def deliver(self, batch: WatchBatch) -> None:
            raise RuntimeError("no more")

    sinks = [Sink(), Failing(), Sink()]
    for sink in sinks:
        parts.watch(sink)
    parts.write_keys(11, "default/a")
    await a_turn()
    parts.write_keys(12, "default/b")
    await a_turn()

    assert [sink.keys for sink in sinks] == [["default/a", "default/b"], [], ["default/a", "default/b"]]
    assert [sink.ends for sink in sinks] == [[], [None], []]
    assert parts.fanout.statistics()["failed_sinks"] == 1
    assert "the sink of a watch failed" in caplog.text


async def test_a_sink_that_fails_at_its_end_costs_the_others_nothing(
    parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Sink):
        def end(self, reason: object) -> None:
            raise RuntimeError("no end")

    failing, other = Failing(), Sink()
    parts.watch(failing)
    parts.watch(other)

    parts.cache.replace([], 20)

    assert other.ends == [None]
    assert "failed at its end" in caplog.text


async def test_a_sink_may_stop_watches_while_it_is_given_something(parts: Parts) -> None:
    class Stopping(Sink):
        def deliver(self, batch: WatchBatch) -> None:
            super().deliver(batch)
            for watcher in watchers:
                watcher.stop()

    sinks = [Stopping(), Sink(), Sink()]
    watchers = [parts.watch(sink) for sink in sinks]
    parts.write_keys(11, "default/a")
    await a_turn()

    assert [len(sink.events) for sink in sinks] == [1, 0, 0]
    assert [sink.ends for sink in sinks] == [[None]] * 3
    assert parts.fanout.statistics()["groups"] == 0


async def test_an_object_that_cannot_be_read_ends_the_watches_that_would_see_it(parts: Parts) -> None:
    everything, selected, elsewhere = Sink(), Sink(), Sink()
    parts.watch(everything)
    parts.watch(selected, predicate=labelled(app="web"))
    parts.watch(elsewhere, "other/")

    parts.write(put(stored("default/a", 11)), put(broken("default/b", 12)), put(stored("other/c", 13)))
    await a_turn()

    assert everything.revisions == [11]
    assert elsewhere.revisions == [13]
    for sink in (everything, selected):
        (reason,) = sink.ends
        assert isinstance(reason, Corrupt)
    assert elsewhere.ends == []


async def test_an_object_whose_trigger_cannot_be_read_may_be_anybodys(parts: Parts) -> None:
    red, blue = Sink(), Sink()
    parts.watch(red, predicate=with_field("spec.color", "red"))
    parts.watch(blue, predicate=with_field("spec.color", "blue"))

    parts.write(put(broken("default/b", 11)))
    await a_turn()

    assert [type(reason) for sink in (red, blue) for reason in sink.ends] == [Corrupt, Corrupt]


async def test_a_restart_ends_all_watches(parts: Parts) -> None:
    member, waiting = Sink(), Sink()
    parts.watch(member)
    parts.watch(waiting, revision=100)
    parts.write_keys(11, "default/a")

    parts.cache.replace([], 20)
    await a_turn()

    assert (member.ends, waiting.ends) == ([None], [None])
    assert parts.fanout.statistics()["watchers"] == 0
    assert parts.fanout.position.revision == 20


async def test_who_skips_gaps_is_told_the_difference_by_a_restart(parts: Parts) -> None:
    following, other = Sink(), Sink()
    parts.watch(following, skips_gaps=True)
    parts.watch(other)
    parts.write_keys(11, "default/changed", "default/gone", "default/same")
    same = parts.cache.get("default/same")
    assert same is not None

    parts.cache.replace([stored("default/changed", 15), stored("default/new", 16), same], 20)
    await a_turn()

    assert (following.ends, other.ends) == ([], [None])
    assert shapes(following.events[3:]) == [
        (WatchEventType.MODIFIED, "default/changed"),
        (WatchEventType.ADDED, "default/new"),
        (WatchEventType.DELETED, "default/gone"),
    ]
    assert parts.fanout.position.revision == 20


async def test_statistics_count_exactly(parts: Parts) -> None:
    for _ in range(3):
        parts.watch(Sink())
    stopped = parts.watch(Sink(), "other/")
    parts.write_keys(11, "default/a", "default/b")
    await a_turn()
    stopped.stop()

    assert parts.fanout.statistics() == {
        "watchers": 3,
        "groups": 1,
        "members": 3,
        "position": 12,
        "queued": 0,
        "most_queued": 2,
        "batches": 1,
        "deliveries": 6,
        "failed_sinks": 0,
    }
