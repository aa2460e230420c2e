"""Writes: what a creation, an update and a deletion do to one key.

Says what is encoded, compared and leased; the loop around updates and deletions is in changes.py.

Must hold: nothing is stored that no reader could be shown. An update that changes nothing writes nothing, unless the
stored form is stale. Whatever an update function raises reaches its caller untouched.
"""

from dataclasses import dataclass

from storage import codec, preconditions, versioner
from storage.errors import KeyExists, KeyNotFound, LeaseNotFound, RevisionSet
from storage.interface import Preconditions, TryUpdate, Update, Validate
from storage.kv.interface import KV, Record, WriteResult
from storage.lease_manager import LeaseManager
from storage.records import Records
from storage.stored_object import Object, StoredObject


class Writer:
    """Puts objects of one resource."""

    def __init__(self, kv: KV, records: Records, leases: LeaseManager) -> None:
        self.kv = kv
        self.records = records
        self._leases = leases

    async def create(self, key: str, obj: Object, ttl: int) -> StoredObject:
        """Put an object that does not exist yet."""
        if obj["metadata"].get("resourceVersion"):
            raise RevisionSet(versioner.SET_ON_CREATE)
        obj = self.records.reduced(obj)
        codec.to_json(obj)
        write = await self.put(key, obj, ttl=ttl, expected_mod_revision=0)
        if not write.succeeded:
            raise KeyExists(key, write.record.mod_revision if write.record else 0)
        return await self.written(key, write, obj)

    async def written(self, key: str, write: WriteResult, obj: Object) -> StoredObject:
        """What was just written, as it reads back."""
        if self.records.is_translated and write.record is not None:
            return await self.records.read(write.record)
        return self.records.written(key, write.revision, obj)

    async def put(self, key: str, obj: Object, *, ttl: int, expected_mod_revision: int) -> WriteResult:
        """Compare-and-set one object, under a lease if it has a TTL."""
        versioner.clear_resource_version(obj)
        raw_key = self.records.key_of(key)
        value = await self.records.write(raw_key, obj)
        if not ttl:
            return await self.kv.put(raw_key, value, expected_mod_revision=expected_mod_revision)
        lease = await self._leases.lease_for(ttl)
        try:
            return await self.kv.put(raw_key, value, expected_mod_revision=expected_mod_revision, lease=lease)
        except LeaseNotFound:  # revoked or run out behind the lease manager's back: nothing was written
            self._leases.discard(lease)
            lease = await self._leases.lease_for(ttl)
            return await self.kv.put(raw_key, value, expected_mod_revision=expected_mod_revision, lease=lease)


@dataclass(frozen=True, slots=True, kw_only=True)
class Updating:
    """The Change that puts what an update function makes of the current state."""

    writer: Writer
    key: str
    try_update: TryUpdate
    preconditions: Preconditions | None
    ignore_not_found: bool
    is_deletion: bool = False

    async def fetch(self) -> Record | None:
        return await _fetch(self.writer, self.key)

    async def state_of(self, record: Record | None) -> StoredObject | None:
        if record is None and self.ignore_not_found:
            return None
        return await _existing(self.writer, self.key, record)

    async def decide(self, current: StoredObject | None) -> Update | None:
        preconditions.check(self.preconditions, self.key, current)
        wanted = await self.try_update(current)
        update = Update(self.writer.records.reduced(wanted.obj), wanted.ttl)
        versioner.clear_resource_version(update.obj)
        versioner.set_resource_version(update.obj, _revision(current))
        shown = codec.to_json(update.obj)
        is_unchanged = current is not None and not current.is_stale and shown == current.json
        return None if is_unchanged else update

    async def write(self, current: StoredObject | None, decision: Update) -> WriteResult:
        return await self.writer.put(self.key, decision.obj, ttl=decision.ttl, expected_mod_revision=_revision(current))

    async def result(self, current: StoredObject | None, decision: Update, write: WriteResult) -> StoredObject:
        return await self.writer.written(self.key, write, decision.obj)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleting:
    """The Change that deletes the current state if it may go."""

    writer: Writer
    key: str
    preconditions: Preconditions | None
    validate: Validate
    is_deletion: bool = True

    async def fetch(self) -> Record | None:
        return await _fetch(self.writer, self.key)

    async def state_of(self, record: Record | None) -> StoredObject:
        return await _existing(self.writer, self.key, record)

    async def decide(self, current: StoredObject | None) -> StoredObject:
        assert current is not None, "what is deleted exists"
        preconditions.check(self.preconditions, self.key, current)
        await self.validate(current)
        return current

    async def write(self, current: StoredObject | None, decision: StoredObject) -> WriteResult:
        return await self.writer.kv.delete(
            self.writer.records.key_of(self.key), expected_mod_revision=decision.revision
        )

    async def result(self, current: StoredObject | None, decision: StoredObject, write: WriteResult) -> StoredObject:
        return decision.at_revision(write.revision)


async def _fetch(writer: Writer, key: str) -> Record | None:
    return (await writer.kv.get(writer.records.key_of(key))).record


async def _existing(writer: Writer, key: str, record: Record | None) -> StoredObject:
    if record is None:
        raise KeyNotFound(key)
    return await writer.records.read(record)


def _revision(current: StoredObject | None) -> int:
    return current.revision if current is not None else 0
