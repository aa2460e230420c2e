"""Truth: the history of the widgets in a kv engine, and the events that a watcher must have seen of it.

It reads the engine's own events, and computes the answers in the simplest way. It shares only the types of the answers
with the cache.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage import codec, versioner
from aio_apiserver.storage.interface import WatchEvent, WatchEventType
from aio_apiserver.storage.kv.interface import KV, EventBatch, EventType, prefix_end
from aio_apiserver.storage.selection import EVERYTHING, SelectionPredicate
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.steps import labelled, with_field
from tests.storage.stores import PREFIX

ADDED, MODIFIED, DELETED = WatchEventType.ADDED, WatchEventType.MODIFIED, WatchEventType.DELETED

SELECTIONS: dict[SelectionPredicate, Callable[[Object], bool]] = {
    EVERYTHING: lambda _obj: True,
    labelled(app="web"): lambda obj: obj["metadata"].get("labels", {}).get("app") == "web",
    with_field("spec.color", "red"): lambda obj: obj["spec"].get("color") == "red",
    with_field("metadata.name", "a"): lambda obj: obj["metadata"]["name"] == "a",
}
"""The selectors of the tests, each with its meaning."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A watcher's event: the object's key, its revision and its state."""

    type: WatchEventType
    key: str
    revision: int
    obj: Object


@dataclass(frozen=True, slots=True)
class View:
    """The scope and the selector of a watch or list."""

    scope: str
    predicate: SelectionPredicate

    def shows(self, key: str, obj: Object | None) -> bool:
        """Whether a state of an object is in view. A scope is "", "namespace/" or "namespace/name"."""
        is_range = not self.scope or self.scope.endswith("/")
        is_within = key.startswith(self.scope) if is_range else key == self.scope
        return obj is not None and is_within and SELECTIONS[self.predicate](obj)


class Truth:
    """All changes so far: key, state before, state after, revision."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, Object | None, Object | None, int]] = []

    @property
    def revisions(self) -> list[int]:
        """Every revision at which the widgets changed, oldest first."""
        return list(dict.fromkeys(revision for *_, revision in self.changes))

    def state(self, revision: int, view: View) -> dict[str, Object]:
        """The objects in view at a revision, in key order."""
        state = {key: after for key, _, after, at in self.changes if at <= revision}
        return {key: obj for key, obj in sorted(state.items()) if obj is not None and view.shows(key, obj)}

    def events(self, revision: int, view: View) -> list[Seen]:
        """The events that a watcher of the view must see after a revision."""
        seen = []
        for key, before, after, at in self.changes:
            was, is_now = view.shows(key, before), view.shows(key, after)
            if at <= revision or not (was or is_now):
                continue
            if after is not None and is_now:
                seen.append(Seen(MODIFIED if was else ADDED, key, at, after))
            else:
                assert before is not None
                seen.append(Seen(DELETED, key, at, _at_revision(before, at)))
        return seen


@asynccontextmanager
async def truth_of(kv: KV) -> AsyncIterator[Truth]:
    """Follow the engine from now on, while it holds no widget yet."""
    truth = Truth()
    start = PREFIX.encode()
    async with kv.watch(start, prefix_end(start), revision=await kv.current_revision() + 1) as batches:
        following = asyncio.ensure_future(_follow(batches, truth))
        try:
            yield truth
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)


async def _follow(batches: AsyncIterator[EventBatch], truth: Truth) -> None:
    async for batch in batches:
        for event in batch.events:
            record, previous = event.record, event.previous
            truth.changes.append(
                (
                    record.key.decode().removeprefix(PREFIX),
                    _decoded(previous.value, previous.mod_revision) if previous is not None else None,
                    _decoded(record.value, record.mod_revision) if event.type is EventType.PUT else None,
                    record.mod_revision,
                )
            )


def _decoded(value: bytes, revision: int) -> Object:
    return _at_revision(codec.decode(value), revision)


def _at_revision(obj: Object, revision: int) -> Object:
    shown = {**obj, "metadata": dict(obj["metadata"])}
    versioner.set_resource_version(shown, revision)
    return shown


def agrees(truth: Truth, view: View, events: Sequence[WatchEvent], *, start: int | None, is_whole: bool) -> bool:
    """Whether a watcher saw the expected events in order: after `start`, or after a state (None) that came first.

    is_whole: it must have seen everything; otherwise the watch has ended, and it may have seen only the beginning.
    """
    if start is not None:
        return _follows(truth, view, events, start, is_whole=is_whole)
    marks = [event.revision for event in events if event.ends_initial_events]
    revisions = marks or [0, *truth.revisions]
    return len(marks) <= 1 and any(_begins_with(truth, view, events, at, is_whole=is_whole) for at in revisions)


def _begins_with(truth: Truth, view: View, events: Sequence[WatchEvent], revision: int, *, is_whole: bool) -> bool:
    """Whether the state at the revision comes first, then its mark if there is one, then what followed."""
    state = list(truth.state(revision, view).items())
    shown = [Seen(ADDED, key, int(obj["metadata"]["resourceVersion"]), obj) for key, obj in state]
    first, rest = events[: len(shown)], events[len(shown) :]
    if any(event.object is None for event in first):
        return False
    told = [_told(event) for event in first]
    if len(first) < len(shown):
        return not is_whole and told == shown[: len(told)]
    if rest and rest[0].ends_initial_events:
        rest = rest[1:]
    return told == shown and _follows(truth, view, rest, revision, is_whole=is_whole)


def _follows(truth: Truth, view: View, events: Sequence[WatchEvent], revision: int, *, is_whole: bool) -> bool:
    """Whether the events are the history after the revision, with each bookmark in its place."""
    expected = deque(truth.events(revision, view))
    told_up_to = revision
    for event in events:
        if event.object is not None:
            if not expected or _told(event) != expected.popleft():
                return False
        elif event.ends_initial_events or (expected and expected[0].revision <= event.revision):
            return False
        if event.revision < told_up_to:
            return False
        told_up_to = event.revision
    return not (is_whole and expected)


def _told(event: WatchEvent) -> Seen:
    assert event.object is not None
    return Seen(event.type, event.object.key, event.revision, event.object.decode())


def lists_as_it_was(truth: Truth, view: View, items: Sequence[StoredObject], revision: int) -> bool:
    """Whether a list shows its revision."""
    return [(item.key, item.decode()) for item in items] == list(truth.state(revision, view).items())
