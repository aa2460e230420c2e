"""histories: what many clients were told who create, update, delete, read and list the same few config maps.

Each write has a content of its own, and each seed has objects of its own. Must hold: a request whose answer is unknown
is a lost operation, not a failed one. A client sends each request once.
"""

import asyncio
import random
import ssl
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import count
from typing import Any

import aiohttp
from msgspec import Struct

from aio_apiserver.testing import Server
from tests.reliability import linearizability
from tests.reliability.linearizability import Action, Answer, Operation

MAPS = "/api/v1/namespaces/default/configmaps"
_SECONDS = 10.0
_ANSWERS = {
    (Action.CREATE, 201): Answer.OK,
    (Action.CREATE, 409): Answer.EXISTS,
    (Action.UPDATE, 200): Answer.OK,
    (Action.UPDATE, 404): Answer.NOT_FOUND,
    (Action.UPDATE, 409): Answer.CONFLICT,
    (Action.DELETE, 200): Answer.OK,
    (Action.DELETE, 404): Answer.NOT_FOUND,
}
_METHODS = {Action.CREATE: "POST", Action.UPDATE: "PUT", Action.DELETE: "DELETE"}

_TAKEN = "is used by transport"
"""What uvloop says when the connection to an ended server still has the descriptor of a new one."""

Histories = Mapping[str, Sequence[Operation]]
"""The operations on each object, by its name."""


class AnswerLost(aiohttp.ClientError):
    """The connection ended before the answer came. The server may have carried the request out."""


class Replica(Struct, frozen=True):
    """A server, and how its clients authenticate."""

    url: str
    token: str
    tls: ssl.SSLContext


def replica_of(server: Server) -> Replica:
    """A server as a replica, with its administrator's credentials."""
    return Replica(server.url, server.admin_token, server.tls)


async def collect(
    replicas: Sequence[Replica], *, clients: int = 10, names: int = 10, operations: int = 500, seed: int = 0
) -> Histories:
    """Run the clients until they have made so many operations in sum. Each client uses all replicas."""
    histories: dict[str, list[Operation]] = defaultdict(list)
    contents = count()
    left = iter(range(operations))
    async with AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(session(replica)) for replica in replicas]
        made = [
            _Client(
                sessions,
                [f"object-{seed}-{number}" for number in range(names)],
                random.Random(f"{seed} {one}"),
                histories,
                contents,
            )
            for one in range(clients)
        ]
        await asyncio.gather(*(client.work(left) for client in made))
    return histories


def contradictions(histories: Histories) -> Mapping[str, Sequence[Operation]]:
    """The objects whose history no order explains, with the beginning that shows it."""
    found = {name: linearizability.first_contradiction(history) for name, history in histories.items()}
    return {name: history for name, history in found.items() if history}


def session(replica: Replica, *, seconds: float | None = _SECONDS) -> aiohttp.ClientSession:
    """A client of one replica. seconds: the time limit of each request, if there is one."""
    return aiohttp.ClientSession(
        replica.url,
        headers={"Authorization": f"Bearer {replica.token}"},
        connector=aiohttp.TCPConnector(ssl=replica.tls, limit=0),
        timeout=aiohttp.ClientTimeout(seconds),
        middlewares=[send_once],
    )


async def send_once(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Raise an error that aiohttp passes on.

    After the two errors below, aiohttp sends GET, PUT and DELETE a second time. A DELETE that was carried out would be
    answered with 404 then.
    """
    try:
        return await send(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as exc:
        raise AnswerLost(f"{request.method} {request.url.path}: {exc!r}") from exc
    except RuntimeError as exc:
        if _TAKEN not in str(exc):
            raise
        raise AnswerLost(f"{request.method} {request.url.path}: {exc!r}") from exc


class _Client:
    """One client. It remembers what it has seen of each object, for its updates."""

    def __init__(
        self,
        sessions: Sequence[aiohttp.ClientSession],
        names: Sequence[str],
        chance: random.Random,
        histories: dict[str, list[Operation]],
        contents: "count[int]",
    ) -> None:
        self._sessions = sessions
        self._names = names
        self._chance = chance
        self._histories = histories
        self._contents = contents
        self._seen: dict[str, dict[str, Any]] = {}

    async def work(self, numbers: "Any") -> None:
        for _ in numbers:
            name = self._chance.choice(self._names)
            do = self._chance.choices([self._write, self._read, self._list], weights=[6, 3, 1])[0]
            await do(name)

    async def _write(self, name: str) -> None:
        known = self._seen.get(name)
        action = self._chance.choice([Action.CREATE, Action.DELETE, *[Action.UPDATE] * 2 * bool(known)])
        content = f"content-{next(self._contents)}" if action is not Action.DELETE else None
        metadata: dict[str, Any] = {"name": name}
        seen = None
        if action is Action.UPDATE and known is not None:
            metadata["resourceVersion"], seen = known["metadata"]["resourceVersion"], known["data"]["content"]
        path = MAPS if action is Action.CREATE else f"{MAPS}/{name}"
        body = {"metadata": metadata, "data": {"content": content}} if content else None
        began = time.monotonic()
        status, answer = await self._ask(_METHODS[action], path, body)
        told = _ANSWERS.get((action, status), Answer.LOST)
        ended = time.monotonic() if told is not Answer.LOST else float("inf")
        self._histories[name].append(Operation(action, told, began, ended, content, seen))
        if told is Answer.OK and content:
            self._seen[name] = answer

    async def _read(self, name: str) -> None:
        began = time.monotonic()
        status, answer = await self._ask("GET", f"{MAPS}/{name}")
        if status in (200, 404):
            self._saw(name, answer if status == 200 else None, began, time.monotonic())

    async def _list(self, _name: str) -> None:
        began = time.monotonic()
        status, answer = await self._ask("GET", MAPS)
        ended = time.monotonic()
        if status == 200:
            found = {item["metadata"]["name"]: item for item in answer["items"]}
            for name in self._names:
                self._saw(name, found.get(name), began, ended)

    def _saw(self, name: str, obj: dict[str, Any] | None, began: float, ended: float) -> None:
        seen = obj["data"]["content"] if obj is not None else None
        self._histories[name].append(Operation(Action.READ, Answer.OK, began, ended, seen=seen))
        if obj is not None:
            self._seen[name] = obj

    async def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """The status, and the JSON of the response. 0 when there was none."""
        try:
            async with self._chance.choice(self._sessions).request(method, path, json=body) as response:
                return response.status, await response.json()
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return 0, {}
