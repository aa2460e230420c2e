"""ended_sessions: the sessions of the console that their users have ended, so that a copied cookie ends with them.

They are in the storage, which all workers and replicas share. An ended session is a key that expires when its cookie
would have expired.

Must hold: there are at most 10,000 such keys. Beyond them, a sign-out ends all sessions with its token that began until
then, by one key for each token. The sessions of other tokens go on. A session that the store has not noted has ended
in this process alone, which knows the last 10,000 of them.
"""

import contextlib
import hashlib

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.interpret import StorageCall, interpreted
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS
from aio_apiserver.storage.errors import KeyExists, KeyNotFound
from aio_apiserver.storage.interface import Resource, Storage, Update
from aio_apiserver.storage.stored_object import StoredObject

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
_BEFORE = "before"


class EndedSessions:
    """The ended sessions of one cluster. A session is known by its token, its cookie and the time when it began."""

    def __init__(self, storage: Storage, most: int = MOST) -> None:
        self._storage = storage
        self._most = most
        self._here: dict[str, None] = {}
        """The keys of sessions that have ended in this process alone, oldest first."""

    async def end(self, token: str, cookie: str, now: int) -> None:
        """End a session for all servers. Raises StatusError; then the session has ended in this process alone."""
        try:
            await interpreted(self._put(token, cookie, now), _call("update"))
        except StatusError:
            self._keep(cookie)
            raise

    async def end_here(self, cookie: str) -> None:
        """End a session in this process, without a write. Raises StatusError when the store cannot be read."""
        self._keep(cookie)
        await interpreted(self._read(_key(cookie)), _call("get"))

    async def has(self, token: str, cookie: str, began: int) -> bool:
        """Whether a session was ended. Raises StatusError."""
        if _key(cookie) in self._here or await interpreted(self._read(_key(cookie)), _call("get")) is not None:
            return True
        of_token = await interpreted(self._read(_of_token(token)), _call("get"))
        return of_token is not None and began <= int(of_token["data"][_BEFORE])

    def _keep(self, cookie: str) -> None:
        self._here[_key(cookie)] = None
        if len(self._here) > self._most:
            del self._here[next(iter(self._here))]

    async def _read(self, key: str) -> Object | None:
        try:
            return (await self._storage.get(key)).decode()
        except KeyNotFound:
            return None

    async def _put(self, token: str, cookie: str, now: int) -> None:
        if await self._storage.count() >= self._most:
            await self._end_all(_of_token(token), now)
        else:
            with contextlib.suppress(KeyExists):
                await self._storage.create(_key(cookie), {"metadata": {"name": _key(cookie)}}, ttl=SECONDS)

    async def _end_all(self, key: str, now: int) -> None:
        async def put(_current: StoredObject | None) -> Update:
            return Update({"metadata": {"name": key}, "data": {_BEFORE: str(now)}}, ttl=SECONDS)

        await self._storage.guaranteed_update(key, put, ignore_not_found=True)


def _key(cookie: str) -> str:
    return hashlib.sha256(cookie.encode()).hexdigest()[:40]


def _of_token(token: str) -> str:
    return f"all-{_key(token)}"


def _call(verb: str) -> StorageCall:
    return StorageCall(GroupResource("", PLACE.resource), verb, "")
