"""Snapshot: the records of a store at one moment, to restore it or to start another store. Pure.

A snapshot costs no copy of a value, because records do not change. Must hold: a restore takes new revisions. A watch
gets the difference as events, or has to list again.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct

from aio_apiserver.storage.record import Record


class Snapshot(Struct, frozen=True):
    """The records by key, and the store's revision when it was made."""

    records: Mapping[bytes, Record]
    revision: int

    def __len__(self) -> int:
        return len(self.records)

    def lasting(self) -> Mapping[bytes, Record]:
        """The records for another store, which are those without a lease."""
        return {key: record for key, record in self.records.items() if not record.lease}


class Difference(NamedTuple):
    """How one state becomes another: first the deletions, then the writes."""

    gone: list[bytes]
    written: list[Record]

    @property
    def changed(self) -> set[bytes]:
        """The keys that differ."""
        return {*self.gone, *(record.key for record in self.written)}

    def divided(self, keys: Collection[bytes]) -> "tuple[Difference, Difference]":
        """The part that concerns these keys, and the rest."""
        if not keys:
            return Difference([], []), self
        return (
            Difference([key for key in self.gone if key in keys], [one for one in self.written if one.key in keys]),
            Difference(
                [key for key in self.gone if key not in keys], [one for one in self.written if one.key not in keys]
            ),
        )


def difference(live: Mapping[bytes, Record], wanted: Snapshot, leases: Mapping[int, object]) -> Difference:
    """The difference from the live records to the wanted ones. A key whose lease has expired stays as it is.

    A key that was deleted and created again since is deleted first, so that a watcher does not take two objects for
    one.
    """
    gone, written = [], []
    for record in _unlike(live, wanted.records):
        if record.lease and record.lease not in leases:
            continue
        present = live.get(record.key)
        if present is not None and present.create_revision != record.create_revision:
            gone.append(record.key)
        written.append(record)
    gone.extend(key for key in live if key not in wanted.records)
    return Difference(gone, written)


def _unlike(live: Mapping[bytes, Record], wanted: Mapping[bytes, Record]) -> Iterator[Record]:
    for key, record in wanted.items():
        present = live.get(key)
        if present is not record and (present is None or present.value != record.value):
            yield record
