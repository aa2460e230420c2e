"""Reads: gets, ranges and replays in SQL, each on one snapshot. They run on a reader's thread, without an event loop.

Must hold: a snapshot shows whole revisions and knows its own revision. Compacted and future revisions are checked
against the snapshot, because the event loop's view may be older or newer. No statement sorts or stores values.
"""

# ruff: noqa: S608 - statements are put together from constants
import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, cast

from msgspec import Struct

from aio_apiserver.storage.errors import Compacted, StorageError
from aio_apiserver.storage.kv.interface import Event, EventType, GetResult, RangeResult
from aio_apiserver.storage.kv.replay import Replay, Replayed
from aio_apiserver.storage.kv.sqlite.schema import POSITION_BITS, Connection, StoreRevisions, first_id, read_state
from aio_apiserver.storage.record import Record

_REPLAY_ROWS = 1_000
_REPLAY_BYTES = 4 << 20

_RECORD = f"r.key, r.value, r.create_revision, r.id >> {POSITION_BITS}, r.version, r.lease"
_RECORD_WITHOUT_VALUE = f"r.key, x'', r.create_revision, r.id >> {POSITION_BITS}, r.version, r.lease"

_GET = f"""
SELECT {_RECORD} FROM heads h JOIN records r ON r.id = h.id WHERE h.key = :key AND h.is_live
"""
_GET_AT = f"""
WITH RECURSIVE line (id) AS (
    SELECT id FROM heads WHERE key = :key
    UNION ALL
    SELECT r.previous FROM line JOIN records r ON r.id = line.id WHERE line.id >= :bound
)
SELECT {_RECORD} FROM line JOIN records r ON r.id = line.id WHERE line.id < :bound AND r.version > 0
"""

_SHOWN = "SELECT key, id FROM heads WHERE key >= :start AND key < :end AND is_live"
_SHOWN_AT = """
SELECT key, id FROM heads WHERE key >= :start AND key < :end AND is_live AND id < :bound
UNION ALL
SELECT line.key, line.id FROM line JOIN records r ON r.id = line.id WHERE line.id < :bound AND r.version > 0
"""
_LINES = """
WITH RECURSIVE line (key, id) AS (
    SELECT key, id FROM heads WHERE key >= :start AND key < :end AND id >= :bound
    UNION ALL
    SELECT line.key, r.previous FROM line JOIN records r ON r.id = line.id WHERE line.id >= :bound
)
"""
"""For each key that has changed after the bound: its rows from the newest back to the first one before the bound."""

_REPLAY = f"""
SELECT {_RECORD}, p.value, p.create_revision, p.id >> {POSITION_BITS}, p.version, p.lease
FROM records r LEFT JOIN records p ON p.id = r.previous AND p.version > 0
WHERE r.id >= :first AND r.id < :end_id AND r.key >= :start AND r.key < :end
ORDER BY r.id
"""


class Get(Struct, frozen=True):
    """A get of one key, at present (0) or at a revision."""

    key: bytes
    revision: int


class Range(Struct, frozen=True, kw_only=True):
    """A range of keys, at present (0) or at a revision."""

    start: bytes
    end: bytes
    limit: int
    revision: int
    keys_only: bool
    count_only: bool


def get_all(connection: Connection, gets: Sequence[Get]) -> Sequence[GetResult | StorageError]:
    """Read several keys on one snapshot. The results are in their order."""
    with _snapshot(connection) as state:
        return [_get(connection, get, state) for get in gets]


def read_range(connection: Connection, wanted: Range) -> RangeResult:
    """Read a range on one snapshot."""
    with _snapshot(connection) as state:
        if wanted.revision:
            state.check_kept(wanted.revision)
        lines, shown = (_LINES, _SHOWN_AT) if wanted.revision else ("", _SHOWN)
        scope = {"start": wanted.start, "end": wanted.end, "bound": first_id(wanted.revision + 1)}
        if wanted.count_only:
            return RangeResult((), state.revision, _count(connection, lines, shown, scope), more=False)
        columns = _RECORD_WITHOUT_VALUE if wanted.keys_only else _RECORD
        statement = f"""{lines}
            SELECT {columns} FROM (SELECT key, id FROM ({shown}) ORDER BY key LIMIT :limit) s
            CROSS JOIN records r ON r.id = s.id
        """
        rows = connection.execute(statement, {**scope, "limit": wanted.limit or -1}).fetchall()
        is_whole = not wanted.limit or len(rows) < wanted.limit
        count = len(rows) if is_whole else _count(connection, lines, shown, scope)
        records = [Record(*row) for row in rows]
        return RangeResult(records, state.revision, count, more=count > len(records))


def replay(connection: Connection, wanted: Replay) -> Replayed:
    """Read the first part of a replay: some rows of the log or some megabytes, and at least one revision."""
    with _snapshot(connection) as state:
        if wanted.first < state.compact_revision:
            raise Compacted(wanted.first, state.compact_revision)
        end_revision = _end_of_part(connection, wanted)
        rows = connection.execute(
            _REPLAY,
            {
                "first": first_id(wanted.first),
                "end_id": first_id(end_revision),
                "start": wanted.start,
                "end": wanted.end,
            },
        )
        events: list[Event] = []
        size = 0
        for row in rows:
            event = _event(row)
            if size > _REPLAY_BYTES and event.record.mod_revision > events[-1].record.mod_revision:
                return Replayed(events, event.record.mod_revision)
            size += len(row[1]) + len(row[6] or b"")
            events.append(event)
        return Replayed(events, end_revision)


@contextlib.contextmanager
def _snapshot(connection: Connection) -> Iterator[StoreRevisions]:
    connection.execute("BEGIN")
    try:
        yield read_state(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _get(connection: Connection, get: Get, state: StoreRevisions) -> GetResult | StorageError:
    try:
        if get.revision:
            state.check_kept(get.revision)
    except StorageError as exc:
        return exc
    scope = {"key": get.key, "bound": first_id(get.revision + 1)}
    row = connection.execute(_GET_AT if get.revision else _GET, scope).fetchone()
    return GetResult(Record(*row) if row else None, state.revision)


def _count(connection: Connection, lines: str, shown: str, scope: dict[str, Any]) -> int:
    (count,) = connection.execute(f"{lines} SELECT count(*) FROM ({shown})", scope).fetchone()
    return cast("int", count)


def _end_of_part(connection: Connection, wanted: Replay) -> int:
    """The revision before which a part of the replay ends, however few of its rows are in the range."""
    row = connection.execute(
        "SELECT id FROM records WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ?", (first_id(wanted.first), _REPLAY_ROWS)
    ).fetchone()
    if row is None:
        return wanted.last + 1
    last_id: int = row[0]
    return min(max(last_id >> POSITION_BITS, wanted.first + 1), wanted.last + 1)


def _event(row: tuple[Any, ...]) -> Event:
    record, old = Record(*row[:6]), row[6:]
    previous = Record(record.key, *old) if old[2] else None
    return Event(EventType.PUT if record.version else EventType.DELETE, record, previous)
