"""Contents: the records of a store below --etcd-prefix at one revision, read in pages while servers write.

Must hold: all pages are of one revision. When the server compacts that revision meanwhile, the read raises Compacted.
The keys of running servers, which they write anew every few seconds, are left out.
"""

from collections.abc import AsyncIterator, Iterable
from typing import Protocol

from msgspec import Struct

from aio_apiserver.storage.kv.interface import RangeResult, prefix_end
from aio_apiserver.storage.record import Record

PAGE = 1_000
PRESENCE = (b"masterleases/", b"peerserverleases/")
"""The keys below the prefix by which running servers say that they live. A restored one would name a dead server."""


class RecordSource(Protocol):
    """The part of the kv contract that a copy needs, and the time that leases have left."""

    async def range(
        self,
        start: bytes,
        end: bytes,
        *,
        limit: int = 0,
        revision: int = 0,
        keys_only: bool = False,
        count_only: bool = False,
    ) -> RangeResult:
        """As in KV."""
        ...

    async def lease_seconds(self, lease: int) -> int:
        """The seconds that a lease has left; 0 when it has ended."""
        ...

    async def store_id(self) -> bytes:
        """The identity of the store; empty when it has none."""
        ...

    async def close(self) -> None: ...


class Contents(Struct, frozen=True):
    """A source below a prefix that ends with a slash, at a revision. `count`: the number of keys.

    store_id: the identity of the store, which an incremental backup shares with its base.
    """

    source: RecordSource
    prefix: bytes
    revision: int
    count: int
    store_id: bytes = b""

    async def records(self, *, keys_only: bool = False) -> AsyncIterator[Record]:
        """The records in order of their keys. Raises Compacted."""
        start, end, more = self.prefix, prefix_end(self.prefix), True
        left_out = presence(self.prefix)
        while more:
            page = await self.source.range(start, end, limit=PAGE, revision=self.revision, keys_only=keys_only)
            for record in page.records:
                if not record.key.startswith(left_out):
                    yield record
            more = page.more and bool(page.records)
            if more:
                start = page.records[-1].key + b"\0"

    async def lease_seconds(self, lease: int) -> int:
        return await self.source.lease_seconds(lease)


def presence(prefix: bytes) -> tuple[bytes, ...]:
    """The beginnings of the keys that are left out."""
    return tuple(prefix + place for place in PRESENCE)


async def contents_of(source: RecordSource, prefix: str) -> Contents:
    """The present contents of a store. `prefix`: --etcd-prefix."""
    start = directory_of(prefix)
    found = await source.range(start, prefix_end(start), count_only=True)
    return Contents(source, start, found.revision, found.count, await source.store_id())


async def in_order(records: Iterable[Record]) -> AsyncIterator[Record]:
    """Records at hand as a stream."""
    for record in records:
        yield record


def text_of(key: bytes) -> str:
    """A key for people. A key of a foreign file may have any bytes, also those that change a terminal.

    >>> text_of(b"/registry/a\x1b[2J")
    '/registry/a\\x1b[2J'
    """
    return key.decode(errors="backslashreplace").encode("unicode_escape").decode()


def directory_of(prefix: str) -> bytes:
    """The beginning of all keys below --etcd-prefix.

    >>> directory_of("registry")
    b'/registry/'
    """
    return f"/{prefix.strip('/')}/".replace("//", "/").encode()
