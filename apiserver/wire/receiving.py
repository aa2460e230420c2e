"""Receiving: reads the bytes of all connections of one listener through one buffer.

For a protocol without a buffer, the event loop makes an object of 256 KiB for each read of TLS, and shortens it. An
allocation of that size is a system call, and two more make it small and free it. They take a fifth of a GET's time.

Must hold: the event loop fills the buffer and hands it over in one step, so connections of one loop can share it. What
a connection is given is a copy.
"""

import asyncio

_BYTES = 64 * 1024
"""A quarter of what the event loop reads from a socket at once. The rest stays encrypted in a paused connection."""


def new_buffer(size: int = _BYTES) -> "memoryview[int]":
    """The buffer of one listener, or of one client. A connection reads at most its size in one turn of the loop."""
    return memoryview(bytearray(size))


class SharedBufferReceiver(asyncio.BufferedProtocol):
    """Stands between a transport and the protocol of a connection."""

    __slots__ = ("_buffer", "_data_received", "_protocol")

    def __init__(self, protocol: asyncio.Protocol, buffer: "memoryview[int]") -> None:
        self._protocol = protocol
        self._data_received = protocol.data_received
        self._buffer = buffer

    def get_buffer(self, _sizehint: int) -> "memoryview[int]":
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._data_received(self._buffer[:nbytes].tobytes())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._protocol.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()

    def eof_received(self) -> bool | None:
        return self._protocol.eof_received()
