"""grpc_stream: one bidirectional gRPC stream on an HTTP/2 connection of its own, which hands its messages over at once.

grpc.aio needs a turn or two of the event loop for each message, and gRPC's threads wait for the interpreter with each
message. Under load, either falls seconds behind a busy etcd. Here the receiver gets all messages of one read of the
socket, before other tasks run. Knows etcd's messages as bytes.

Must hold: messages come whole, once and in order. A broken stream raises RpcFailed with the code that grpc.aio would
give.
"""

import asyncio
from collections.abc import Callable

from aio_apiserver.storage.kv.etcd import grpc_messages
from aio_apiserver.storage.kv.etcd.grpc_status import Code
from aio_apiserver.storage.kv.etcd.http2 import WINDOW, Http2Connection
from aio_apiserver.storage.kv.etcd.http2_headers import Headers


class GrpcStream:
    """A call with this block of headers, on a connection of its own. Before `receive`, at most WINDOW comes."""

    def __init__(self, connection: Http2Connection, headers: bytes) -> None:
        self._connection = connection
        self._received = bytearray()
        self._ungranted = 0
        self._headers: dict[str, str] = {}
        self._take: Callable[[list[bytes]], None] | None = None
        self._failure: Exception | None = None
        self._has_ended = asyncio.Event()
        self._number = connection.open(headers, self)

    async def receive(self, take: Callable[[list[bytes]], None]) -> None:
        """Hand all messages over, until the server ends the stream. Raises RpcFailed, and what `take` raises."""
        self._take = take
        self._hand_over()
        await self._has_ended.wait()
        if self._failure is not None:
            raise self._failure

    def write(self, message: bytes) -> None:
        """Send a message as soon as the server's window permits; after the end, nothing is sent."""
        self._connection.send(self._number, grpc_messages.framed(message))

    def cancel(self) -> None:
        """Cancel the stream; its reader gets the error at once."""
        self._end(grpc_messages.failed(Code.CANCELLED, "the stream was given up"))

    # The stream's events

    def take_headers(self, headers: Headers) -> None:
        self._headers.update(headers)

    def take_data(self, data: bytes) -> None:
        self._received += data
        self._ungranted += len(data)
        self._hand_over()

    def end(self) -> None:
        self._end(grpc_messages.failure_in(self._headers))

    def fail(self, reason: str, *, was_sent: bool) -> None:
        self._end(grpc_messages.broken(reason, was_sent=was_sent))

    def retire(self) -> None:
        """Continue at another member at once: this one is stopping."""
        self.fail("the server is ending the connection", was_sent=True)

    def _hand_over(self) -> None:
        """Hand the whole messages over; the server may send as many bytes again."""
        if self._take is None or self._has_ended.is_set():
            return
        messages = grpc_messages.cut(self._received)
        try:
            self._take(messages)
        except Exception as error:  # noqa: BLE001 - `receive` raises it
            self._end(error)
        if self._ungranted > WINDOW // 4:
            self._connection.grant(self._number, self._ungranted)
            self._ungranted = 0

    def _end(self, failure: Exception | None) -> None:
        if self._has_ended.is_set():
            return
        self._failure = failure
        self._has_ended.set()
        self._connection.close()
