"""Verification: checks the file of an embedded store: its pages, and that heads, records and leases agree.

It reads beside the server that uses the file. Must hold: what a write or a compaction leaves behind is no fault.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from aio_apiserver.storage.kv.sqlite.schema import Connection, read_state

_MOST = 100
"""The faults of one kind that are shown."""

_FAULTS: Mapping[str, str] = {
    "its newest record is missing": """
        SELECT h.key FROM heads h LEFT JOIN records r ON r.id = h.id AND r.key = h.key WHERE r.id IS NULL
    """,
    "its head is not its newest record": """
        SELECT h.key FROM heads h JOIN (SELECT key, max(id) AS id FROM records GROUP BY key) n ON n.key = h.key
        WHERE n.id <> h.id
    """,
    "its record has no head": """
        SELECT DISTINCT r.key FROM records r LEFT JOIN heads h ON h.key = r.key WHERE h.key IS NULL
    """,
    "its head and its record disagree": """
        SELECT h.key FROM heads h JOIN records r ON r.id = h.id WHERE h.is_live <> (r.version > 0) OR h.lease <> r.lease
    """,
    "its lease does not exist": """
        SELECT h.key FROM heads h LEFT JOIN leases l ON l.id = h.lease WHERE h.is_live AND h.lease <> 0 AND l.id IS NULL
    """,
    "its history has a record of another key": """
        SELECT r.key FROM records r JOIN records p ON p.id = r.previous WHERE p.key <> r.key OR p.id >= r.id
    """,
}
"""What may be wrong with a key, and the statement that finds such keys."""


class StoreFault(Struct, frozen=True):
    """A fault of the file. key: empty for a fault of the whole."""

    key: bytes
    problem: str


def faults(connection: Connection) -> Iterator[StoreFault]:
    """The faults of a store, on one snapshot."""
    for (text,) in connection.execute(f"PRAGMA integrity_check({_MOST})").fetchall():
        if text != "ok":
            yield StoreFault(b"", text)
    connection.execute("BEGIN")
    try:
        state = read_state(connection)
        if state.compact_revision > state.revision:
            yield StoreFault(b"", f"compacted to {state.compact_revision}, which is after revision {state.revision}")
        for problem, statement in _FAULTS.items():
            for (key,) in connection.execute(f"{statement} LIMIT {_MOST}").fetchall():
                yield StoreFault(key, problem)
    finally:
        connection.execute("ROLLBACK")
