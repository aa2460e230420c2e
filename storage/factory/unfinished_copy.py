"""Unfinished copy: the marker of a store that a restore or a migration has begun to write and has not completed.

Must hold: the marker is below the prefix, and no object can have its key.
"""

from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.kv.interface import KV

PLACE = b"_aio-apiserver.io/transfer/"
"""The keys of copies below the prefix. An underscore stands in no API group."""
_MARKER = PLACE + b"incomplete"


class UnfinishedCopy(StorageError):
    """The store has a part of a copy's objects."""


def marker(prefix: bytes) -> bytes:
    """The key of the marker in a store with this prefix, which ends with a slash."""
    return prefix + _MARKER


async def refuse(store: KV, prefix: str) -> None:
    """Raise UnfinishedCopy when the store has the marker."""
    if (await store.get(marker(prefix.rstrip("/").encode() + b"/"))).record is not None:
        raise UnfinishedCopy(
            f"a restore or a migration into the store below {prefix} has not been completed, so that objects are "
            "missing: run the same `apiserver restore` or `apiserver migrate` again, which continues where it stopped"
        )
