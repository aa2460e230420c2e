"""Writes: the creation, update and deletion of one key.

It decides what is encoded, compared and leased. The loop around updates and deletions is in changes.py.

Must hold: an object that cannot be shown as JSON is not stored. An update without change writes nothing, unless the
stored form is stale. An exception of the update function reaches the caller unchanged.
"""

from msgspec import Struct

from aio_apiserver.base import tracing
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage import codec, versioner
from aio_apiserver.storage.errors import KeyExists, KeyNotFound, LeaseNotFound, RevisionSet
from aio_apiserver.storage.interface import Preconditions, TryUpdate, Validate
from aio_apiserver.storage.kv.interface import KV, WriteResult
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.store import preconditions
from aio_apiserver.storage.store.changes import UntranslatedChange
from aio_apiserver.storage.store.lease_manager import LeaseManager
from aio_apiserver.storage.store.own_writes import OwnWrite
from aio_apiserver.storage.store.records import Records
from aio_apiserver.storage.stored_object import StoredObject
from aio_apiserver.storage.transformers.transformer import Plain


class ObjectWriter:
    """Writes objects of one resource."""

    def __init__(self, kv: KV, records: Records, leases: LeaseManager) -> None:
        self.kv = kv
        self.records = records
        self._leases = leases

    async def create(self, key: str, obj: Object, ttl: int) -> StoredObject:
        """Write an object that does not exist yet."""
        if "resourceVersion" in obj["metadata"] and versioner.claimed_version(obj):
            raise RevisionSet(versioner.SET_ON_CREATE)
        obj = self.records.reduced(obj)
        versioner.clear_resource_version(obj)
        shown = codec.to_json(obj)
        value = await self.records.value_of(obj)
        tracing.current().step("Encode succeeded", {"len": len(value)})
        if self.records.is_translated:
            write = await self.put(key, value, ttl=ttl, expected_mod_revision=0)
            _check_created(key, write)
            return await self.records.object_of(key, write.revision, Plain(value, is_stale=False))
        own, write = await self.put_own(key, value, obj, shown, ttl=ttl, expected_mod_revision=0)
        _check_created(key, write)
        return own.at(write.revision)

    async def put_own(
        self, key: str, plain: bytes, obj: Object, shown: bytes, *, ttl: int, expected_mod_revision: int
    ) -> tuple[OwnWrite, WriteResult]:
        """The same as `put` for an object that reads back as it is, whose watch event then shares its encoding."""
        raw_key = self.records.key_of(key)
        value = await self.records.sealed(raw_key, plain)
        tracing.current().step("TransformToStorage succeeded")
        own = self.records.own_write(key, raw_key, obj, shown=shown, plain=plain, value=value)
        if ttl:
            write = await self._put(raw_key, value, ttl, expected_mod_revision)
        else:
            write = await self.kv.put(raw_key, value, expected_mod_revision=expected_mod_revision)
        tracing.current().step("Txn call completed")
        if not write.succeeded:
            self.records.own.drop(raw_key)
        return own, write

    async def put(self, key: str, plain: bytes, *, ttl: int, expected_mod_revision: int) -> WriteResult:
        """Compare-and-set one value, with a lease if it has a TTL."""
        raw_key = self.records.key_of(key)
        return await self._put(raw_key, await self.records.sealed(raw_key, plain), ttl, expected_mod_revision)

    async def _put(self, raw_key: bytes, value: bytes, ttl: int, expected_mod_revision: int) -> WriteResult:
        if not ttl:
            return await self.kv.put(raw_key, value, expected_mod_revision=expected_mod_revision)
        lease = await self._leases.lease_for(ttl)
        try:
            return await self.kv.put(raw_key, value, expected_mod_revision=expected_mod_revision, lease=lease)
        except LeaseNotFound:  # revoked or run out behind the lease manager's back: nothing was written
            self._leases.discard(lease)
            lease = await self._leases.lease_for(ttl)
            return await self.kv.put(raw_key, value, expected_mod_revision=expected_mod_revision, lease=lease)

    async def remove(self, key: str, expected_mod_revision: int) -> WriteResult:
        """Compare-and-delete one key."""
        return await self.kv.delete(self.records.key_of(key), expected_mod_revision=expected_mod_revision)


def _check_created(key: str, write: WriteResult) -> None:
    if not write.succeeded:
        raise KeyExists(key, write.record.mod_revision if write.record else 0)


class _Encoded(Struct):
    """The object to write, its JSON with an empty resourceVersion, and the time for which it lives.

    own: its last try to be written.
    """

    obj: Object
    shown: bytes
    ttl: int
    own: OwnWrite | None = None


class Updating(Struct, UntranslatedChange, frozen=True, kw_only=True):
    """The KeyChange that writes the result of an update function."""

    writer: ObjectWriter
    key: str
    try_update: TryUpdate
    preconditions: Preconditions | None
    ignore_not_found: bool
    is_deletion: bool = False

    async def fetch(self) -> Record | None:
        return await fetch(self.writer, self.key)

    async def state_of(self, record: Record | None) -> StoredObject | None:
        if record is None and self.ignore_not_found:
            return None
        return await self.writer.records.read(existing(self.key, record))

    async def decide(self, current: StoredObject | None) -> _Encoded | None:
        preconditions.check(self.preconditions, self.key, current)
        wanted = await self.try_update(current)
        obj = self.writer.records.reduced(wanted.obj)
        versioner.clear_resource_version(obj)
        shown = codec.to_json(obj)
        if current is None or current.is_stale:
            return _Encoded(obj, shown, wanted.ttl)
        is_unchanged = versioner.with_revision(shown, obj, current.revision) == current.json
        return None if is_unchanged else _Encoded(obj, shown, wanted.ttl)

    async def write(self, current: StoredObject | None, decision: _Encoded) -> WriteResult:
        obj, writer = decision.obj, self.writer
        value = await writer.records.value_of(obj)
        tracing.current().step("Encode succeeded", {"len": len(value)})
        decision.own, write = await writer.put_own(
            self.key, value, obj, decision.shown, ttl=decision.ttl, expected_mod_revision=revision_of(current)
        )
        return write

    async def result(self, current: StoredObject | None, decision: _Encoded, write: WriteResult) -> StoredObject:
        assert decision.own is not None, "it was written"
        return decision.own.at(write.revision)


class Deleting(Struct, UntranslatedChange, frozen=True, kw_only=True):
    """The KeyChange that deletes the current state."""

    writer: ObjectWriter
    key: str
    preconditions: Preconditions | None
    validate: Validate
    is_deletion: bool = True

    async def fetch(self) -> Record | None:
        return await fetch(self.writer, self.key)

    async def state_of(self, record: Record | None) -> StoredObject:
        return await self.writer.records.read(existing(self.key, record))

    async def decide(self, current: StoredObject | None) -> StoredObject:
        assert current is not None, "what is deleted exists"
        preconditions.check(self.preconditions, self.key, current)
        await self.validate(current)
        return current

    async def write(self, current: StoredObject | None, decision: StoredObject) -> WriteResult:
        return await self.writer.remove(self.key, decision.revision)

    async def result(self, current: StoredObject | None, decision: StoredObject, write: WriteResult) -> StoredObject:
        return decision.at_revision(write.revision)


async def fetch(writer: ObjectWriter, key: str) -> Record | None:
    """The record of a key."""
    return (await writer.kv.get(writer.records.key_of(key))).record


def existing(key: str, record: Record | None) -> Record:
    """The record, which must exist. Raises KeyNotFound."""
    if record is None:
        raise KeyNotFound(key)
    return record


def revision_of(current: StoredObject | None) -> int:
    """The revision of a state; 0 when the object does not exist."""
    return current.revision if current is not None else 0
