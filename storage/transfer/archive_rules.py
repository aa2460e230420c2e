"""archive_rules: what the frames of a backup must be, beyond their types, so that a restore of any file is safe.

    head      once and first; a prefix as of --etcd-prefix; revisions that a store can go on from
    keys      below the prefix, in order, each once; none of running servers or of unfinished copies
    records   revisions in their order, and newer than the base
    leases    before their records, and few enough to keep

Pure. Must hold: a file that passes can be written to a store without another look at it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.storage.factory.unfinished_copy import PLACE
from aio_apiserver.storage.transfer.archive_frames import (
    FORMAT,
    ArchivedLease,
    ArchivedRecord,
    ArchiveEnd,
    ArchiveFrame,
    ArchiveHead,
    BrokenArchive,
    KeptKey,
)
from aio_apiserver.storage.transfer.contents import presence, text_of

MAX_REVISION = 1 << 40
"""A thousand billion writes. The embedded store has eight times as many revisions."""
_MAX_KEY_BYTES = 4_096
_MAX_PREFIX_BYTES = 1_024
_MAX_LEASES = 100_000
_MAX_LEASE_SECONDS = 9_000_000_000
"""The longest lease of etcd."""
_STORE_ID_BYTES = 64


class FrameRules:
    """Checks the frames of one file, in their order. Each check raises BrokenArchive, without the name of the file."""

    def __init__(self) -> None:
        self.head: ArchiveHead | None = None
        self.end: ArchiveEnd | None = None
        self.leases: dict[int, int] = {}
        self.keys = 0
        self._newest_key = b""
        self._foreign: tuple[bytes, ...] = ()

    def check(self, frame: ArchiveFrame) -> None:
        """Check the next frame."""
        if self.end is not None:
            raise BrokenArchive("there is more behind its end")
        if (self.head is None) != isinstance(frame, ArchiveHead):
            raise BrokenArchive("it is damaged: it has no head, or two")
        _CHECKS[type(frame)](self, frame)

    def check_head(self, head: ArchiveHead) -> None:
        if head.format != FORMAT:
            raise BrokenArchive(f"it has format {head.format}, this program knows {FORMAT}")
        if not _is_prefix(head.prefix) or len(head.store_id) > _STORE_ID_BYTES:
            raise BrokenArchive("it is damaged: its prefix is none")
        if not 0 <= head.base <= head.revision <= MAX_REVISION or head.revision < 1:
            raise BrokenArchive(
                f"no store has its revisions, {head.revision} on the base {head.base}: 1 to {MAX_REVISION} are possible"
            )
        self.head = head
        self._foreign = (*presence(head.prefix), head.prefix + PLACE)

    def check_record(self, record: ArchivedRecord) -> None:
        assert self.head is not None, "the head comes first"
        self._check_key(record.key)
        is_newer = self.head.base < record.mod_revision <= self.head.revision
        if not is_newer or not 1 <= record.create_revision <= record.mod_revision:
            raise BrokenArchive(f"the revisions of {text_of(record.key)} are not those of the backup")
        if not 1 <= record.version <= record.mod_revision - record.create_revision + 1:
            raise BrokenArchive(f"the version of {text_of(record.key)} does not fit to its revisions")
        if record.lease and record.lease not in self.leases:
            raise BrokenArchive(f"the lease of {text_of(record.key)} is missing")

    def check_kept(self, kept: KeptKey) -> None:
        assert self.head is not None, "the head comes first"
        self._check_key(kept.key)
        if not 1 <= kept.mod_revision <= self.head.base:
            raise BrokenArchive(f"the revision of {text_of(kept.key)} is not one of the base")

    def check_lease(self, lease: ArchivedLease) -> None:
        if lease.lease < 1 or not 0 <= lease.seconds <= _MAX_LEASE_SECONDS:
            raise BrokenArchive("it is damaged: a lease that no store grants")
        if len(self.leases) >= _MAX_LEASES:
            raise BrokenArchive(f"it has more than {_MAX_LEASES} leases")
        self.leases[lease.lease] = lease.seconds

    def check_end(self, end: ArchiveEnd) -> None:
        self.end = end

    def _check_key(self, key: bytes) -> None:
        assert self.head is not None, "the head comes first"
        prefix = self.head.prefix
        if not len(prefix) < len(key) <= _MAX_KEY_BYTES or not key.startswith(prefix) or key.startswith(self._foreign):
            raise BrokenArchive(f"the key {text_of(key)} is none of an object below {text_of(prefix)}")
        if key <= self._newest_key:
            raise BrokenArchive(f"the key {text_of(key)} is out of order")
        self._newest_key = key
        self.keys += 1


_CHECKS: Mapping[type, Callable[[FrameRules, Any], None]] = {
    ArchiveHead: FrameRules.check_head,
    ArchivedRecord: FrameRules.check_record,
    KeptKey: FrameRules.check_kept,
    ArchivedLease: FrameRules.check_lease,
    ArchiveEnd: FrameRules.check_end,
}


def _is_prefix(prefix: bytes) -> bool:
    """Whether --etcd-prefix can be this."""
    is_path = prefix.startswith(b"/") and prefix.endswith(b"/") and len(prefix) <= _MAX_PREFIX_BYTES
    return is_path and prefix.isascii() and prefix.decode("ascii").isprintable()
