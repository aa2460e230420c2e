"""Translated writes: what an update and a deletion do where others translate between what is kept and what is used.

Who translates may answer differently each time, so that only values tell whether anything changes, and whoever starts
from a state that was not read has it translated first. Must hold: translations are asked for when kube-apiserver asks
for them, because whoever gives them sees it: for a suggested state, for what is to be written, for what is read, and
for the result.
"""

from dataclasses import dataclass, field

from msgspec import Struct

from aio_apiserver.storage import codec, preconditions, versioner
from aio_apiserver.storage.interface import Preconditions, TryUpdate, Validate
from aio_apiserver.storage.kv.interface import Record, WriteResult
from aio_apiserver.storage.store.changes import Plainly
from aio_apiserver.storage.store.records import Records
from aio_apiserver.storage.store.writes import Writer, existing, fetch, revision_of
from aio_apiserver.storage.stored_object import Object, StoredObject
from aio_apiserver.storage.transformer import Plain


class Kept:
    """The state that a change starts from, in the form in which it is kept."""

    __slots__ = ("_records", "plain")

    def __init__(self, records: Records) -> None:
        self._records = records
        self.plain = Plain(b"", is_stale=False)

    async def made_of(self, suggestion: StoredObject) -> None:
        """Begin with a state that was not read."""
        self.plain = Plain(await _value(self._records, suggestion.decode()), is_stale=suggestion.is_stale)

    async def read(self, record: Record) -> StoredObject:
        """Begin with a state that was."""
        self.plain = await self._records.opened(record)
        return await self.shown(self._records.relative(record.key), record.mod_revision)

    async def shown(self, key: str, revision: int) -> StoredObject:
        """The state as it is used, once more."""
        return await self._records.shown(key, revision, self.plain)


class _Value(Struct, frozen=True):
    """What is going to be stored."""

    data: bytes
    ttl: int


@dataclass(slots=True, kw_only=True)
class TranslatedUpdating:
    """The Change that puts what an update function makes of the current state."""

    writer: Writer
    key: str
    try_update: TryUpdate
    preconditions: Preconditions | None
    ignore_not_found: bool
    is_deletion: bool = False
    kept: Kept = field(init=False)
    _wanted: bytes = field(init=False, default=b"")

    def __post_init__(self) -> None:
        self.kept = Kept(self.writer.records)

    async def begin_with(self, suggestion: StoredObject) -> None:
        await self.kept.made_of(suggestion)

    async def fetch(self) -> Record | None:
        return await fetch(self.writer, self.key)

    async def state_of(self, record: Record | None) -> StoredObject | None:
        if record is None and self.ignore_not_found:
            return None
        return await self.kept.read(existing(self.key, record))

    async def decide(self, current: StoredObject | None) -> _Value | None:
        preconditions.check(self.preconditions, self.key, current)
        wanted = await self.try_update(current)
        codec.to_json(wanted.obj)
        self._wanted = await _value(self.writer.records, wanted.obj)
        is_unchanged = current is not None and not self.kept.plain.is_stale and self._wanted == self.kept.plain.data
        return None if is_unchanged else _Value(self._wanted, wanted.ttl)

    def is_confirmed(self, fresh: StoredObject) -> bool:
        return not fresh.is_stale and self._wanted == self.kept.plain.data

    async def unchanged(self, current: StoredObject) -> StoredObject:
        return await self.kept.shown(self.key, current.revision)

    async def write(self, current: StoredObject | None, decision: _Value) -> WriteResult:
        return await self.writer.put(
            self.key, decision.data, ttl=decision.ttl, expected_mod_revision=revision_of(current)
        )

    async def result(self, current: StoredObject | None, decision: _Value, write: WriteResult) -> StoredObject:
        return await self.writer.records.shown(self.key, write.revision, Plain(decision.data, is_stale=False))


@dataclass(slots=True, kw_only=True)
class TranslatedDeleting(Plainly):
    """The Change that deletes the current state if it may go."""

    writer: Writer
    key: str
    preconditions: Preconditions | None
    validate: Validate
    is_deletion: bool = True
    kept: Kept = field(init=False)

    def __post_init__(self) -> None:
        self.kept = Kept(self.writer.records)

    async def begin_with(self, suggestion: StoredObject) -> None:
        await self.kept.made_of(suggestion)

    async def fetch(self) -> Record | None:
        return await fetch(self.writer, self.key)

    async def state_of(self, record: Record | None) -> StoredObject:
        return await self.kept.read(existing(self.key, record))

    async def decide(self, current: StoredObject | None) -> StoredObject:
        assert current is not None, "what is deleted exists"
        preconditions.check(self.preconditions, self.key, current)
        await self.validate(current)
        return current

    async def write(self, current: StoredObject | None, decision: StoredObject) -> WriteResult:
        return await self.writer.remove(self.key, decision.revision)

    async def result(self, current: StoredObject | None, decision: StoredObject, write: WriteResult) -> StoredObject:
        return await self.kept.shown(self.key, write.revision)


async def _value(records: Records, obj: Object) -> bytes:
    versioner.clear_resource_version(obj)
    return await records.value_of(obj)
