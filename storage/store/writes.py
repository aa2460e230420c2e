"""Writes: what a creation, an update and a deletion do to one key.

Says what is encoded, compared and leased; the loop around updates and deletions is in changes.py.

Must hold: nothing is stored that no reader could be shown. An update that changes nothing writes nothing, unless the
stored form is stale. Whatever an update function raises reaches its caller untouched.
"""

from msgspec import Struct

from aio_apiserver.storage import codec, preconditions, versioner
from aio_apiserver.storage.errors import KeyExists, KeyNotFound, LeaseNotFound, RevisionSet
from aio_apiserver.storage.interface import Preconditions, TryUpdate, Update, Validate
from aio_apiserver.storage.kv.interface import KV, Record, WriteResult
from aio_apiserver.storage.store.changes import Plainly
from aio_apiserver.storage.store.lease_manager import LeaseManager
from aio_apiserver.storage.store.records import Records
from aio_apiserver.storage.stored_object import Object, StoredObject
from aio_apiserver.storage.transformer import Plain


class Writer:
    """Puts objects of one resource."""

    def __init__(self, kv: KV, records: Records, leases: LeaseManager) -> None:
        self.kv = kv
        self.records = records
        self._leases = leases

    async def create(self, key: str, obj: Object, ttl: int) -> StoredObject:
        """Put an object that does not exist yet."""
        if versioner.claimed_version(obj):
            raise RevisionSet(versioner.SET_ON_CREATE)
        obj = self.records.reduced(obj)
        codec.to_json(obj)
        versioner.clear_resource_version(obj)
        value = await self.records.value_of(obj)
        write = await self.put(key, value, ttl=ttl, expected_mod_revision=0)
        if not write.succeeded:
            raise KeyExists(key, write.record.mod_revision if write.record else 0)
        if self.records.is_translated:
            return await self.records.shown(key, write.revision, Plain(value, is_stale=False))
        return self.records.written(key, write.revision, obj)

    async def put(self, key: str, plain: bytes, *, ttl: int, expected_mod_revision: int) -> WriteResult:
        """Compare-and-set one value, under a lease if it has a TTL."""
        raw_key = self.records.key_of(key)
        value = await self.records.sealed(raw_key, plain)
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


class Updating(Struct, Plainly, frozen=True, kw_only=True):
    """The Change that puts what an update function makes of the current state."""

    writer: Writer
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

    async def decide(self, current: StoredObject | None) -> Update | None:
        preconditions.check(self.preconditions, self.key, current)
        wanted = await self.try_update(current)
        update = Update(self.writer.records.reduced(wanted.obj), wanted.ttl)
        versioner.clear_resource_version(update.obj)
        versioner.set_resource_version(update.obj, revision_of(current))
        shown = codec.to_json(update.obj)
        is_unchanged = current is not None and not current.is_stale and shown == current.json
        return None if is_unchanged else update

    async def write(self, current: StoredObject | None, decision: Update) -> WriteResult:
        versioner.clear_resource_version(decision.obj)
        value = await self.writer.records.value_of(decision.obj)
        return await self.writer.put(self.key, value, ttl=decision.ttl, expected_mod_revision=revision_of(current))

    async def result(self, current: StoredObject | None, decision: Update, write: WriteResult) -> StoredObject:
        return self.writer.records.written(self.key, write.revision, decision.obj)


class Deleting(Struct, Plainly, frozen=True, kw_only=True):
    """The Change that deletes the current state if it may go."""

    writer: Writer
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


async def fetch(writer: Writer, key: str) -> Record | None:
    """The record of a key."""
    return (await writer.kv.get(writer.records.key_of(key))).record


def existing(key: str, record: Record | None) -> Record:
    """A record that has to be there. Raises KeyNotFound."""
    if record is None:
        raise KeyNotFound(key)
    return record


def revision_of(current: StoredObject | None) -> int:
    """At which revision a state was written; 0 for what does not exist."""
    return current.revision if current is not None else 0
