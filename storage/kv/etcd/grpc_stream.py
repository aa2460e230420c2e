"""grpc_stream: one bidirectional gRPC stream on an HTTP/2 connection of its own, read in batches.

grpc.aio needs a turn or two of the event loop for each message, and gRPC's threads wait for the interpreter with each
message. Under load, either falls seconds behind a busy etcd. Here one turn takes all received messages, at some 5
microseconds a message. Knows HTTP/2 by h2, and etcd's messages as bytes.

Must hold: messages come whole, once and in order. At most about WINDOW bytes wait for the reader; HTTP/2's flow control
stops the server beyond that. A broken stream raises AioRpcError with the code that grpc.aio would give.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import cast
from urllib.parse import unquote

from grpc import StatusCode
from grpc.aio import AioRpcError, Metadata
from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings

from aio_apiserver.storage.kv.etcd.config import UNIX, EndpointAddress, EtcdConfig

WINDOW = 1024 * 1024
"""Bytes that the server may send ahead: the event loop reads them in some milliseconds."""
_STREAM = 1
_PREFIX_BYTES = 5
"""The bytes before each message: a flag for compression (never set, as we do not offer it), and the size in four bytes.
"""
_PING = b"silence?"
for _library in ("h2", "hpack"):  # they log headers, the token for etcd among them
    logging.getLogger(_library).setLevel(logging.WARNING)
_CODES: Mapping[int, StatusCode] = {code.value[0]: code for code in StatusCode}


class GrpcStream(asyncio.Protocol):
    """The protocol of one connection. It calls `method` with this metadata as soon as it is connected."""

    def __init__(self, method: str, address: EndpointAddress, metadata: Metadata, config: EtcdConfig) -> None:
        self._headers = [
            (":method", "POST"),
            (":scheme", "https" if address.is_secure else "http"),
            (":path", method),
            (":authority", "localhost" if address.target.startswith(UNIX) else address.target),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
            *metadata,
        ]
        self._keepalive, self._keepalive_timeout = config.keepalive, config.keepalive_timeout
        self._loop = asyncio.get_running_loop()
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self._h2.local_settings = Settings(
            client=True, initial_values={SettingCodes.ENABLE_PUSH: 0, SettingCodes.INITIAL_WINDOW_SIZE: WINDOW}
        )
        self._transport: asyncio.Transport | None = None
        self._outbox = bytearray()
        self._received = bytearray()
        self._unacknowledged = 0
        self._arrived = asyncio.Event()
        self._status: dict[str, str] = {}
        self._has_ended = False
        self._failure: AioRpcError | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._received_at = 0.0
        self._is_probed = False

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
        self._outbox += b"\0" + len(message).to_bytes(4, "big") + message
        self._send()

    def cancel(self) -> None:
        """Cancel the stream; its reader gets the error at once."""
        self._fail(StatusCode.CANCELLED, "the stream was given up")

    # The transport's events

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are no subclasses
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(WINDOW)
        self._h2.send_headers(_STREAM, self._headers)
        self._send()
        self._received_at = self._loop.time()
        self._watch_silence()

    def data_received(self, data: bytes) -> None:
        self._received_at, self._is_probed = self._loop.time(), False
        try:
            for event in self._h2.receive_data(data):
                take_in = _TAKEN_IN.get(type(event))
                if take_in is not None:
                    take_in(self, event)
        except ProtocolError as error:
            self._fail(StatusCode.UNAVAILABLE, f"the server does not speak HTTP/2: {error!r}")
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(StatusCode.UNAVAILABLE, f"the connection was lost: {exc or 'the server has closed it'}")

    # h2's events

    def _take_in_data(self, event: events.DataReceived) -> None:
        self._received += event.data or b""
        self._unacknowledged += event.flow_controlled_length or 0
        self._arrived.set()

    def _take_in_headers(self, event: events.ResponseReceived | events.TrailersReceived) -> None:
        self._status.update((str(name), str(value)) for name, value in event.headers or ())

    def _take_in_end(self, _event: events.StreamEnded) -> None:
        code = int(self._status.get("grpc-status", StatusCode.UNKNOWN.value[0]))
        if code:
            message = unquote(self._status.get("grpc-message", f"HTTP status {self._status.get(':status')}"))
            self._fail(_CODES.get(code, StatusCode.UNKNOWN), message)
        else:
            self._end()

    def _take_in_break(self, event: events.StreamReset | events.ConnectionTerminated) -> None:
        self._fail(StatusCode.UNAVAILABLE, f"the server broke the stream off: {event.error_code!r}")

    # Reading and writing

    def _take(self) -> list[bytes]:
        """The whole messages that have arrived; the server may send as many bytes again."""
        if self._unacknowledged and not self._has_ended:
            self._h2.acknowledge_received_data(self._unacknowledged, _STREAM)
            self._unacknowledged = 0
            self._send()
        return _cut(self._received)

    def _send(self) -> None:
        if self._has_ended or self._transport is None:
            return
        while size := min(
            len(self._outbox), self._h2.local_flow_control_window(_STREAM), self._h2.max_outbound_frame_size
        ):
            self._h2.send_data(_STREAM, bytes(self._outbox[:size]))
            del self._outbox[:size]
        data = self._h2.data_to_send()
        if data:
            self._transport.write(data)

    def _watch_silence(self) -> None:
        """Send a PING after a silence of the server, and end the stream when the answer does not come either."""
        if self._is_probed:
            self._fail(StatusCode.UNAVAILABLE, "keepalive: the server has gone silent")
            return
        wait = self._received_at + self._keepalive - self._loop.time()
        if wait <= 0:
            self._is_probed, wait = True, self._keepalive_timeout
            self._h2.ping(_PING)
            self._send()
        self._timer = self._loop.call_later(wait, self._watch_silence)

    def _fail(self, code: StatusCode, details: str) -> None:
        if not self._has_ended:
            self._failure = AioRpcError(code, Metadata(), Metadata(), details=details)
            self._end()

    def _end(self) -> None:
        self._has_ended = True
        self._arrived.set()
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.abort()


_TAKEN_IN: Mapping[type[events.Event], Callable[..., None]] = {
    events.DataReceived: GrpcStream._take_in_data,
    events.ResponseReceived: GrpcStream._take_in_headers,
    events.TrailersReceived: GrpcStream._take_in_headers,
    events.StreamEnded: GrpcStream._take_in_end,
    events.StreamReset: GrpcStream._take_in_break,
    events.ConnectionTerminated: GrpcStream._take_in_break,
}
"""The handlers of h2's events. The other events change h2's own state, and its data to send."""


def _cut(buffer: bytearray) -> list[bytes]:
    """Take the whole messages from the beginning of a buffer."""
    messages = []
    begin, size = 0, len(buffer)
    while begin + _PREFIX_BYTES <= size:
        end = begin + _PREFIX_BYTES + int.from_bytes(buffer[begin + 1 : begin + _PREFIX_BYTES], "big")
        if end > size:
            break
        messages.append(bytes(buffer[begin + _PREFIX_BYTES : end]))
        begin = end
    del buffer[:begin]
    return messages
