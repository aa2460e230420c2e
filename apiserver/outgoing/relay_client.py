"""relay_client: this server as the client of kubelets, pods, services and aggregated servers.

Handlers name a location, and whether the client's request or its upgraded connection goes there. Must hold: the words
for a location that does not answer are those of kube-apiserver's dialer. A reader learns when an answer breaks off.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import hdrs, web
from multidict import CIMultiDict, CIMultiDictProxy

from aio_apiserver.apiserver.outgoing import dial_words, dialer, upgrades
from aio_apiserver.apiserver.outgoing.dialer import UNREACHABLE, Dialer, Peer, Streams
from aio_apiserver.apiserver.outgoing.forwarded_headers import Forwarding
from aio_apiserver.apiserver.outgoing.guarded import NotAllowed
from aio_apiserver.apiserver.outgoing.upgrades import UpgradeAnswer
from aio_apiserver.registry.base.errors import BadRequest, StatusError
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.locations import Location

_SWITCHING = 101
_STATUSES = range(100, 1000)
_CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, ConnectionResetError)


class Unreachable(Exception):
    """A location did not answer; the message says why."""


class CutOff(Unreachable):
    """The connection ended before the answer did."""


class InvalidAnswerStatus(StatusError):
    """The status of a backend's answer is none that a client could get."""

    code = 502

    def __init__(self, status: int) -> None:
        super().__init__(f"the backend answered with {status:03}, which is no status of HTTP")


class RelayedAnswer:
    """The answer of a backend, whose body is read as it comes."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def reason(self) -> str | None:
        return self._response.reason

    @property
    def headers(self) -> CIMultiDictProxy[str]:
        return self._response.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body. Raises CutOff."""
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except aiohttp.ClientPayloadError as exc:
            raise CutOff("unexpected EOF") from exc

    async def read(self, most: int) -> bytes:
        """The next bytes of the body, at most so many. Raises CutOff."""
        try:
            return await self._response.content.read(most)
        except aiohttp.ClientPayloadError as exc:
            raise CutOff("unexpected EOF") from exc


def check_status(status: int) -> None:
    """Raises InvalidAnswerStatus for a status that kube-apiserver cannot send either."""
    if status not in _STATUSES:
        raise InvalidAnswerStatus(status)


class RelayClient:
    """Forwards requests. `peer_of` says how the server at a location proves its name."""

    def __init__(self, dialer: Dialer, rule: Forwarding, peer_of: Callable[[Location], Peer]) -> None:
        self.forwarding = rule
        self._dialer = dialer
        self._peer_of = peer_of

    @asynccontextmanager
    async def request(
        self,
        location: Location,
        method: str,
        url: str,
        *,
        headers: CIMultiDict[str],
        body: AsyncIterator[bytes] | None = None,
    ) -> AsyncIterator[RelayedAnswer]:
        """The answer to a request at a location. Raises Unreachable, BadRequest, InvalidAnswerStatus."""
        peer = self._peer_of(location)
        try:
            answering = await self._dialer.request(location, peer, method, url, headers=headers, body=body)
        except _CLOSED as exc:
            raise Unreachable("EOF") from exc
        except (aiohttp.ClientError, *UNREACHABLE) as exc:
            if isinstance(getattr(exc, "os_error", None), NotAllowed):
                raise BadRequest("address not allowed") from exc
            raise Unreachable(dial_words.of_relay(exc, location)) from exc
        async with answering as response:
            if response.status == _SWITCHING:
                protocol = quote(response.headers.get(hdrs.UPGRADE, ""))
                raise Unreachable(f'backend tried to switch protocol {protocol} when "" was requested')
            check_status(response.status)
            yield RelayedAnswer(response)

    async def open(self, location: Location) -> Streams:
        """A connection to a location. Raises Unreachable, BadRequest."""
        try:
            return await self._dialer.open(location, self._peer_of(location))
        except UNREACHABLE as exc:
            raise Unreachable(dial_words.of_relay(exc, location)) from exc

    @asynccontextmanager
    async def upgrade(self, request: web.BaseRequest, location: Location) -> AsyncIterator[UpgradeAnswer]:
        """The answer to a client's upgrade, from a connection that is closed at the end of the block.

        Raises Unreachable, BadRequest, InvalidAnswerStatus; OSError, IncompleteReadError, LimitOverrunError when the
        backend breaks it off or sends no HTTP.
        """
        streams = await self.open(location)
        try:
            streams[1].write(upgrades.head(request, location, self.forwarding))
            answer = await upgrades.read_answer(streams)
            check_status(answer.status)
            yield answer
        finally:
            dialer.close(streams)
