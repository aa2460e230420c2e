"""store_limits: StoreLimits, the bounds of an embedded store, and their defaults."""

from msgspec import Struct

QUOTA_BYTES = 8 << 30
"""The default of --store-quota-bytes: the size that etcd's documentation recommends at most."""
RESERVE_BYTES = 32 << 20
"""As much as SQLite's log may have that the database lacks."""


class StoreLimits(Struct, frozen=True, kw_only=True):
    """The bounds of an embedded store; 0 is none.

    history_bytes: past values beyond this are compacted before their time. 0 leaves compaction to others.
    reserve_bytes: the space of the disk that is kept for deletions.
    """

    quota_bytes: int = 0
    history_bytes: int = 0
    reserve_bytes: int = 0


NO_LIMITS = StoreLimits()
