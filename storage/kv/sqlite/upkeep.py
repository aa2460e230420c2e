"""Upkeep: what the writer's connection does between groups, for the file. Runs on the writer's thread alone.

That the writer alone checkpoints is not only simple: before 3.51.3, SQLite could damage a database when one thread
checkpointed while another wrote.

Must hold: the write-ahead log stays near its limit, whatever readers do; each step is short beside a commit's fsync.
"""

from aio_apiserver.storage.kv.sqlite.schema import PAGE_BYTES, Connection

LOG_BYTES = 16 << 20
"""A checkpoint is due: rare enough that pages written again and again are copied once, small enough for a restart."""

_LOG_LIMIT_BYTES = 2 * LOG_BYTES
_VACUUM_PAGES = 64
VACUUM_LOG_BYTES = 2 * _VACUUM_PAGES * PAGE_BYTES
"""What a step of vacuuming adds to the log at the most, about: the pages, and those that point to them."""

_SPARE_PAGES = 128
_SPARE_SHARE = 8
"""Free pages that are kept for the next writes: 1 MiB, or an eighth of the file."""


def checkpoint(connection: Connection) -> None:
    """Copy the log into the database; the next commit starts it over, unless readers still need it.

    Readers that overlap without end would let it grow for ever. Past the limit, the writer waits for them (each
    is short), within its busy timeout.
    """
    _, log_pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    if log_pages * PAGE_BYTES > _LOG_LIMIT_BYTES:
        connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()


def truncate_log(connection: Connection) -> None:
    """Copy the whole log and give its room back, and the database's own end if that is free."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def vacuum_step(connection: Connection) -> bool:
    """Move some pages from the end of the file into free ones: True when few enough are free."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    surplus = free - max(_SPARE_PAGES, pages // _SPARE_SHARE)
    if surplus <= 0:
        return True
    # A script, for it is run to its end: `execute` would stop at the first page, which is a row without columns.
    connection.executescript(f"PRAGMA incremental_vacuum({min(surplus, _VACUUM_PAGES)})")
    return False
