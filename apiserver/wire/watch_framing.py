"""Watch framing: frames watch events as chunks of an HTTP/1.1 body, as WebSocket messages, or as a plain body for
HTTP/1.0.

Pure. Must hold: events that are delivered together become one bytes object. All watchers with the same framing can
share it.
"""

import struct
from collections.abc import Callable, Iterable
from typing import NamedTuple

from aio_apiserver.registry.machinery import media_types

_TEXT = 0x81
_BINARY = 0x82
_SHORT = 125
_MEDIUM = 0xFFFF


class Wire(NamedTuple):
    """One framing. `framed` joins some messages."""

    media_type: str
    content_type: str
    is_socket: bool
    framed: Callable[[Iterable[bytes]], bytes]
    is_chunked: bool = False


def chunk(body: bytes) -> bytes:
    """Bytes as one chunk of an HTTP/1.1 body."""
    return b"%x\r\n%b\r\n" % (len(body), body)


def _lines(messages: Iterable[bytes]) -> bytes:
    return chunk(b"".join(messages))


def _measured(messages: Iterable[bytes]) -> bytes:
    return chunk(_bare_measured(messages))


def _bare_lines(messages: Iterable[bytes]) -> bytes:
    return b"".join(messages)


def _bare_measured(messages: Iterable[bytes]) -> bytes:
    """The messages, each after its length."""
    return b"".join(struct.pack(">I", len(message)) + message for message in messages)


def _texts(messages: Iterable[bytes]) -> bytes:
    return b"".join(_socket_frame(_TEXT, message) for message in messages)


def _binaries(messages: Iterable[bytes]) -> bytes:
    return b"".join(_socket_frame(_BINARY, message) for message in messages)


def _socket_frame(kind: int, message: bytes) -> bytes:
    """A message of RFC 6455 in one frame, not masked, as servers send it."""
    size = len(message)
    if size <= _SHORT:
        return struct.pack(">BB", kind, size) + message
    if size <= _MEDIUM:
        return struct.pack(">BBH", kind, 126, size) + message
    return struct.pack(">BBQ", kind, 127, size) + message


_PROTOBUF_STREAM = f"{media_types.PROTOBUF};stream=watch"
_WIRES = {
    (wire.media_type, wire.is_socket, wire.is_chunked): wire
    for wire in (
        Wire(media_types.JSON, media_types.JSON, False, _lines, is_chunked=True),
        Wire(media_types.JSON, media_types.JSON, False, _bare_lines),
        Wire(media_types.JSON, media_types.JSON, True, _texts),
        Wire(media_types.PROTOBUF, _PROTOBUF_STREAM, False, _measured, is_chunked=True),
        Wire(media_types.PROTOBUF, _PROTOBUF_STREAM, False, _bare_measured),
        Wire(media_types.PROTOBUF, _PROTOBUF_STREAM, True, _binaries),
    )
}


def wire_of(media_type: str, *, is_socket: bool, knows_chunks: bool = True) -> Wire:
    """The framing for a media type. HTTP/1.0 clients do not know chunks."""
    return _WIRES[media_type, is_socket, knows_chunks and not is_socket]
