"""grpc_stream: one bidirectional gRPC stream on an HTTP/2 connection of its own, read in batches.

grpc.aio needs a turn or two of the event loop for each message, and gRPC's threads wait for the interpreter with each
message. Under load, either falls seconds behind a busy etcd. Here one turn takes all received messages. Knows etcd's
messages as bytes.

Must hold: messages come whole, once and in order. At most about WINDOW bytes wait for the reader; HTTP/2's flow control
stops the server beyond that. A broken stream raises AioRpcError with the code that grpc.aio would give.
"""

import asyncio

from grpc import StatusCode
from grpc.aio import AioRpcError

from aio_apiserver.storage.kv.etcd import grpc_messages
from aio_apiserver.storage.kv.etcd.http2 import Http2Connection
from aio_apiserver.storage.kv.etcd.http2_headers import Headers


class GrpcStream:
    """A call on a connection of its own, with this block of headers."""

    def __init__(self, connection: Http2Connection, headers: bytes) -> None:
        self._connection = connection
        self._received = bytearray()
        self._ungranted = 0
        self._arrived = asyncio.Event()
        self._headers: dict[str, str] = {}
        self._has_ended = False
        self._failure: AioRpcError | None = None
        self._number = connection.open(headers, self)

    async def read(self) -> list[bytes]:
        """All messages that have arrived; none at the end of the stream. Raises AioRpcError."""
        while not (messages := self._take()):
            if self._failure is not None:
                raise self._failure
            if self._has_ended:
                break
            self._arrived.clear()
            await self._arrived.wait()
        return messages

    def write(self, message: bytes) -> None:
        """Send a message as soon as the server's window permits; after the end, nothing is sent."""
        self._connection.send(self._number, grpc_messages.framed(message))

    def cancel(self) -> None:
        """Cancel the stream; its reader gets the error at once."""
        self._end(grpc_messages.failed(StatusCode.CANCELLED, "the stream was given up"))

    # The stream's events

    def take_headers(self, headers: Headers) -> None:
        self._headers.update(headers)

    def take_data(self, data: bytes) -> None:
        self._received += data
        self._ungranted += len(data)
        self._arrived.set()

    def end(self) -> None:
        self._end(grpc_messages.failure_in(self._headers))

    def fail(self, reason: str, *, was_sent: bool) -> None:
        self._end(grpc_messages.broken(reason, was_sent=was_sent))

    def retire(self) -> None:
        """Continue at another member at once: this one is stopping."""
        self.fail("the server is ending the connection", was_sent=True)

    def _take(self) -> list[bytes]:
        """The whole messages that have arrived; the server may send as many bytes again."""
        if self._ungranted:
            self._connection.grant(self._number, self._ungranted)
            self._ungranted = 0
        return grpc_messages.cut(self._received)

    def _end(self, failure: AioRpcError | None) -> None:
        if self._has_ended:
            return
        self._has_ended, self._failure = True, failure
        self._arrived.set()
        self._connection.close()
