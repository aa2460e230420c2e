"""Upkeep: checkpoints and vacuuming of the file, on the writer's connection and thread, between groups.

Readers do not checkpoint: before 3.51.3, SQLite could damage a database when one thread checkpointed while another one
wrote. Must hold: the write-ahead log stays near its limit, whatever readers do. Each step is short beside a commit's
fsync.
"""

from aio_apiserver.storage.kv.sqlite.schema import PAGE_BYTES, Connection

LOG_BYTES = 16 << 20
"""The log size for a checkpoint. Pages that change often are copied once, and a restart has little to recover."""

_LOG_LIMIT_BYTES = 2 * LOG_BYTES
_VACUUM_PAGES = 64
VACUUM_LOG_BYTES = 2 * _VACUUM_PAGES * PAGE_BYTES
"""The approximate most that a step of vacuuming adds to the log: the pages, and those that point to them."""

_SPARE_PAGES = 128
_SPARE_SHARE = 8
"""Free pages that are kept for the next writes: 1 MiB, or an eighth of the file."""


def checkpoint(connection: Connection) -> None:
    """Copy the log into the database. The next commit starts the log over, unless readers still need it.

    Readers that always overlap would let the log grow without limit. Past the limit, the writer waits for them (each is
    short), within its busy timeout.
    """
    _, log_pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    if log_pages * PAGE_BYTES > _LOG_LIMIT_BYTES:
        connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()


def truncate_log(connection: Connection) -> None:
    """Copy the whole log and free its space, and the free pages at the end of the database."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def vacuum_step(connection: Connection) -> bool:
    """Move some pages from the end of the file into free ones. Returns True when few enough are free."""
    surplus = surplus_pages(connection)
    if surplus <= 0:
        return True
    # # A script, because it runs to its end: `execute` would stop at the first page, which is a row without columns.
    connection.executescript(f"PRAGMA incremental_vacuum({min(surplus, _VACUUM_PAGES)})")
    return False


def vacuum_all(connection: Connection) -> None:
    """Move pages from the end of the file until none is free, for a store without a server."""
    connection.executescript("PRAGMA incremental_vacuum(0)")


def used_bytes(connection: Connection) -> int:
    """The bytes of the pages that are not free."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    return int(pages - free) * PAGE_BYTES


def surplus_pages(connection: Connection) -> int:
    """The free pages beyond those that are kept."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    return int(free - max(_SPARE_PAGES, pages // _SPARE_SHARE))
