"""Translated writes: updates and deletions of custom resources whose stored form a conversion webhook translates.

The webhook may answer differently each time. So the stored values tell whether an update changes anything, and a
suggested state is translated before the change begins.

Must hold: the webhook is called when kube-apiserver calls it, because it sees the calls. These are: a suggested state,
the value to write, a value read, the result.
"""

from dataclasses import dataclass, field

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage import codec, versioner
from aio_apiserver.storage.interface import Preconditions, TryUpdate, Validate
from aio_apiserver.storage.kv.interface import WriteResult
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.store import preconditions
from aio_apiserver.storage.store.changes import UntranslatedChange
from aio_apiserver.storage.store.records import Records
from aio_apiserver.storage.store.writes import ObjectWriter, existing, fetch, revision_of
from aio_apiserver.storage.stored_object import StoredObject
from aio_apiserver.storage.transformers.transformer import Plain


class StoredState:
    """The state from which a change starts, in its stored form."""

    __slots__ = ("_records", "plain")

    def __init__(self, records: Records) -> None:
        self._records = records
        self.plain = Plain(b"", is_stale=False)

    async def made_of(self, suggestion: StoredObject) -> None:
        """Begin with a suggested state."""
        self.plain = Plain(await _value(self._records, suggestion.decode()), is_stale=suggestion.is_stale)

    async def read(self, record: Record) -> StoredObject:
        """Begin with a state that was read."""
        self.plain = await self._records.opened(record)
        return await self.object_of(self._records.relative(record.key), record.mod_revision)

    async def object_of(self, key: str, revision: int) -> StoredObject:
        """The state, translated once more."""
        return await self._records.object_of(key, revision, self.plain)


class _Value(Struct, frozen=True):
    """The value to store."""

    data: bytes
    ttl: int


@dataclass(slots=True, kw_only=True)
class TranslatedUpdating:
    """The KeyChange that writes the result of an update function."""

    writer: ObjectWriter
    key: str
    try_update: TryUpdate
    preconditions: Preconditions | None
    ignore_not_found: bool
    is_deletion: bool = False
    kept: StoredState = field(init=False)
    _wanted: bytes = field(init=False, default=b"")

    def __post_init__(self) -> None:
        self.kept = StoredState(self.writer.records)

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
        return await self.kept.object_of(self.key, current.revision)

    async def write(self, current: StoredObject | None, decision: _Value) -> WriteResult:
        return await self.writer.put(
            self.key, decision.data, ttl=decision.ttl, expected_mod_revision=revision_of(current)
        )

    async def result(self, current: StoredObject | None, decision: _Value, write: WriteResult) -> StoredObject:
        return await self.writer.records.object_of(self.key, write.revision, Plain(decision.data, is_stale=False))


@dataclass(slots=True, kw_only=True)
class TranslatedDeleting(UntranslatedChange):
    """The KeyChange that deletes the current state."""

    writer: ObjectWriter
    key: str
    preconditions: Preconditions | None
    validate: Validate
    is_deletion: bool = True
    kept: StoredState = field(init=False)

    def __post_init__(self) -> None:
        self.kept = StoredState(self.writer.records)

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
        return await self.kept.object_of(self.key, write.revision)


async def _value(records: Records, obj: Object) -> bytes:
    versioner.clear_resource_version(obj)
    return await records.value_of(obj)
