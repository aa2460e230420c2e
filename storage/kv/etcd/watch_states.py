"""watch_states: the life of one watch on a gRPC stream of etcd, as a table.

    stream opens, or a watcher comes         REQUESTED   the creation is under way
    etcd confirms it                         OPEN        events and progress go to the watcher
    etcd ends it, or the watcher leaves      ENDED       answers that are still under way are dropped

A watch that etcd refuses, or whose history is compacted, has ended, too. The session then fails its watcher, or creates
the watch again under another id. A stream that breaks takes all of its watches along: the next stream begins with
REQUESTED.

    http2.py         frames, windows                      bytes
    grpc_stream.py   messages of one gRPC call            bytes of messages
    watch_session.py the watches on one stream, by id     WatchResponse            this table
    watch_stream.py  one stream after the other           which member, which token
    watcher.py       one watch of the cacher              whole revisions, in order

Pure. Must hold: an input that the table lacks raises UnexpectedInput. The stream then ends, and the next one continues
all watches.
"""

from collections.abc import Mapping
from enum import Enum


class WatchState(Enum):
    """Where a watch on one stream stands."""

    REQUESTED = "requested"
    OPEN = "open"
    ENDED = "ended"


class WatchInput(Enum):
    """What happens to a watch: answers of etcd, and the watcher's leaving."""

    CREATED = "created"
    REFUSED = "refused"
    EVENTS = "events"
    PROGRESS = "progress"
    COMPACTED = "compacted"
    LEFT = "left"


class UnexpectedInput(Exception):
    """The input does not belong to the state."""


_REQUESTED, _OPEN, _ENDED = WatchState.REQUESTED, WatchState.OPEN, WatchState.ENDED

TRANSITIONS: Mapping[tuple[WatchState, WatchInput], WatchState] = {
    (_REQUESTED, WatchInput.CREATED): _OPEN,
    (_REQUESTED, WatchInput.REFUSED): _ENDED,
    (_REQUESTED, WatchInput.COMPACTED): _ENDED,
    (_REQUESTED, WatchInput.LEFT): _ENDED,
    (_OPEN, WatchInput.EVENTS): _OPEN,
    (_OPEN, WatchInput.PROGRESS): _OPEN,
    (_OPEN, WatchInput.REFUSED): _ENDED,
    (_OPEN, WatchInput.COMPACTED): _ENDED,
    (_OPEN, WatchInput.LEFT): _ENDED,
}
"""The next state. An ended watch takes no further input: the session knows its id no more."""


def next_state(state: WatchState, happened: WatchInput) -> WatchState:
    """The state after an input. Raises UnexpectedInput."""
    try:
        return TRANSITIONS[state, happened]
    except KeyError:
        raise UnexpectedInput(f"a watch that is {state.value} cannot be {happened.value}") from None
