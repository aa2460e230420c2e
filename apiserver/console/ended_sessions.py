"""ended_sessions: the sessions of the console that their users have ended, so that a copied cookie ends with them.

They are in the storage, which all workers and replicas share. An ended session is a key that expires when its cookie
would have expired.

Must hold: there are at most 10,000 keys. When there are more sign-outs, all sessions that began until then are ended.
"""

import contextlib
import hashlib

from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.interpret import StorageCall, interpreted
from aio_apiserver.registry.groups.core.configmaps import CONFIGMAPS
from aio_apiserver.storage.errors import KeyExists, KeyNotFound
from aio_apiserver.storage.interface import Resource, Storage, Update
from aio_apiserver.storage.stored_object import Object, StoredObject

PLACE = Resource(
    group="",
    resource="consolesessions",
    namespaced=False,
    type_meta={"kind": CONFIGMAPS.kind, "apiVersion": "v1"},
    is_cached=False,
)
MOST = 10_000
SECONDS = 12 * 3600
"""The lifetime of a session."""
_ALL = "all"
_BEFORE = "before"


class EndedSessions:
    """The ended sessions of one cluster. A session is known by its cookie and the time when it began."""

    def __init__(self, storage: Storage, most: int = MOST) -> None:
        self._storage = storage
        self._most = most

    async def end(self, cookie: str, now: int) -> None:
        """End a session for all servers. Raises StatusError."""
        await interpreted(self._put(cookie, now), _call("update"))

    async def has(self, cookie: str, began: int) -> bool:
        """Whether a session was ended. Raises StatusError."""
        if await interpreted(self._read(_key(cookie)), _call("get")) is not None:
            return True
        of_all = await interpreted(self._read(_ALL), _call("get"))
        return of_all is not None and began <= int(of_all["data"][_BEFORE])

    async def _read(self, key: str) -> Object | None:
        try:
            return (await self._storage.get(key)).decode()
        except KeyNotFound:
            return None

    async def _put(self, cookie: str, now: int) -> None:
        if await self._storage.count() >= self._most:
            await self._end_all(now)
        else:
            with contextlib.suppress(KeyExists):
                await self._storage.create(_key(cookie), {"metadata": {"name": _key(cookie)}}, ttl=SECONDS)

    async def _end_all(self, now: int) -> None:
        async def put(_current: StoredObject | None) -> Update:
            return Update({"metadata": {"name": _ALL}, "data": {_BEFORE: str(now)}}, ttl=SECONDS)

        await self._storage.guaranteed_update(_ALL, put, ignore_not_found=True)


def _key(cookie: str) -> str:
    return hashlib.sha256(cookie.encode()).hexdigest()[:40]


def _call(verb: str) -> StorageCall:
    return StorageCall(GroupResource("", PLACE.resource), verb, "")
