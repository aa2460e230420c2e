"""grpc_calls: gRPC calls with one request and one response, over one HTTP/2 connection to an etcd member.

The connection is opened by the first call, and opened anew by the first call after its loss. Knows no message of etcd.

Must hold: a call has its response or RpcFailed when its timeout has passed. A call that was not sent says so.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.kv.etcd import grpc_messages
from aio_apiserver.storage.kv.etcd.grpc_status import Code, Metadata, RpcFailed
from aio_apiserver.storage.kv.etcd.http2 import WINDOW, Http2Connection
from aio_apiserver.storage.kv.etcd.http2_headers import Headers
from aio_apiserver.storage.kv.etcd.prompt_future import PromptFuture


class ConnectionDialer(Protocol):
    """The way to one member."""

    async def connect(self) -> Http2Connection:
        """A new connection that is ready. Raises RpcFailed."""
        ...

    def headers(self, method: str, metadata: Metadata) -> bytes:
        """The header block of a call."""
        ...


_MOST_BLOCKS = 32
"""Header blocks to remember: one for each method and token in use."""


class GrpcCalls:
    """The calls to one member."""

    def __init__(self, dialer: ConnectionDialer) -> None:
        self._dialer = dialer
        self._connection: Http2Connection | None = None
        self._connecting: asyncio.Task[Http2Connection | RpcFailed] | None = None
        self._blocks: dict[tuple[str, int], tuple[Metadata, bytes]] = {}
        self._tasks = Tasks()
        self._is_closed = False

    @property
    def connection(self) -> Http2Connection | None:
        """The connection of the next call; None when the next call opens one."""
        connection = self._connection
        return connection if connection is not None and connection.is_usable else None

    async def call(
        self,
        method: str,
        request: bytes,
        *,
        timeout: float,  # noqa: ASYNC109
        metadata: Metadata,
        is_urgent: bool = False,
    ) -> bytes:
        """The response to a request. Raises RpcFailed.

        is_urgent: sent at once, and the caller goes on as soon as the response was read. Other requests go out in one
        write with those of the same turn of the event loop.
        """
        connection = self.connection or await self._connected(timeout)
        answer = _Answer(connection, self._block(method, metadata), request, is_urgent=is_urgent)
        if is_urgent:
            connection.flush()
        expiry = asyncio.get_running_loop().call_later(timeout, answer.expire)
        try:
            return await answer.message
        except asyncio.CancelledError:
            answer.give_up()
            raise
        finally:
            expiry.cancel()

    async def call_together(
        self,
        calls: Sequence[tuple[str, bytes]],
        *,
        timeout: float,  # noqa: ASYNC109
        metadata: Metadata,
    ) -> Sequence[bytes]:
        """The responses to several requests, each with its method. All are sent at once, on the present connection.
        Raises RpcFailed, also when there is no connection.
        """
        connection = self.connection
        if connection is None:
            raise grpc_messages.broken("there is no connection", was_sent=False)
        answers: list[_Answer] = []
        expiry = asyncio.get_running_loop().call_later(timeout, _expire, answers)
        try:
            for method, request in calls:
                answers.append(_Answer(connection, self._block(method, metadata), request, is_urgent=True))
            connection.flush()
            return [await answer.message for answer in answers]
        finally:
            expiry.cancel()
            for answer in answers:
                answer.give_up()

    async def close(self) -> None:
        """Fail the calls under way, and all later ones."""
        self._is_closed = True
        await self._tasks.close()
        if self._connection is not None:
            self._connection.close()

    def _block(self, method: str, metadata: Metadata) -> bytes:
        known = self._blocks.get((method, id(metadata)))
        if known is None:
            if len(self._blocks) >= _MOST_BLOCKS:
                self._blocks.clear()
            known = self._blocks[method, id(metadata)] = metadata, self._dialer.headers(method, metadata)
        return known[1]

    async def _connected(self, seconds: float) -> Http2Connection:
        """A new connection, for all calls that wait for one. Raises RpcFailed."""
        if self._is_closed:
            raise grpc_messages.broken("the channel is closed", was_sent=False)
        if self._connecting is None:
            self._connecting = self._tasks.spawn(self._connect(), name="connect to etcd")
        try:
            async with asyncio.timeout(seconds):
                outcome = await asyncio.shield(self._connecting)
        except TimeoutError:
            raise grpc_messages.broken("no answer in time", was_sent=False) from None
        if isinstance(outcome, RpcFailed):
            raise outcome
        return outcome

    async def _connect(self) -> Http2Connection | RpcFailed:
        try:
            self._connection = await self._dialer.connect()
        except RpcFailed as error:
            return error
        finally:
            self._connecting = None
        return self._connection


def _expire(answers: Sequence["_Answer"]) -> None:
    for answer in answers:
        answer.expire()


class _Answer:
    """The receiver of one call."""

    __slots__ = ("_connection", "_data", "_headers", "_number", "_ungranted", "message")

    def __init__(self, connection: Http2Connection, headers: bytes, request: bytes, *, is_urgent: bool) -> None:
        loop = asyncio.get_running_loop()
        self.message: asyncio.Future[bytes] = PromptFuture(loop=loop) if is_urgent else loop.create_future()
        self._connection = connection
        self._headers: Headers = {}
        self._data: list[bytes] = []
        self._ungranted = 0
        self._number = connection.request(headers, grpc_messages.framed(request), self)

    def expire(self) -> None:
        self._connection.cancel(self._number)
        self._settle(grpc_messages.failed(Code.DEADLINE_EXCEEDED, "Deadline Exceeded"))

    def give_up(self) -> None:
        self._connection.cancel(self._number)
        if not self.message.cancel() and not self.message.cancelled():
            self.message.exception()  # asyncio reports none that was not read

    def take_headers(self, headers: Headers) -> None:
        self._headers = {**self._headers, **headers} if self._headers else headers

    def take_data(self, data: bytes) -> None:
        self._data.append(data)
        self._ungranted += len(data)
        if self._ungranted > WINDOW // 2:
            self._connection.grant(self._number, self._ungranted)
            self._ungranted = 0

    def end(self) -> None:
        failure = grpc_messages.failure_in(self._headers)
        message = grpc_messages.unframed(b"".join(self._data))
        self._settle(failure or message)

    def fail(self, reason: str, *, was_sent: bool) -> None:
        self._settle(grpc_messages.broken(reason, was_sent=was_sent))

    def retire(self) -> None:
        """The server still answers calls that it has taken."""

    def _settle(self, outcome: bytes | RpcFailed | None) -> None:
        if self.message.done():
            return
        if isinstance(outcome, bytes):
            self.message.set_result(outcome)
        else:
            broken = grpc_messages.failed(Code.INTERNAL, "the response is no single message")
            self.message.set_exception(outcome or broken)
