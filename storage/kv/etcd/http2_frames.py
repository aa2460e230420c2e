"""http2_frames: the frames of HTTP/2 (RFC 9113): their types, flags and layout, as a client needs them.

Pure, and on the way of every request to etcd. `cut` takes received bytes apart, the other functions build frames.

Must hold: a frame that breaks the layout, or is larger than HTTP/2 permits by default, raises BrokenFrame.
"""

import struct
from collections.abc import Iterator

DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 8, 9
"""The types of frames. PRIORITY and unknown ones mean nothing to a client."""
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITY = 0x1, 0x1, 0x4, 0x8, 0x20
"""The flags of frames."""
ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = 2, 3, 4, 5
"""The settings that concern a client. It compresses no header against a table, so the table's size does not."""
NO_ERROR, REFUSED_STREAM, CANCEL = 0, 7, 8
"""The error codes that a client tells apart."""

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DEFAULT_WINDOW = 65_535
DEFAULT_FRAME = 16_384
"""The largest payload of a frame, unless the receiver's settings permit more."""

Frame = tuple[int, int, int, bytes]
"""Type, flags, stream and payload."""

_HEAD = struct.Struct(">HBBBI")
_HEAD_BYTES = _HEAD.size
_SETTING = struct.Struct(">HI")
_STREAM_BITS = 0x7FFF_FFFF


class BrokenFrame(Exception):
    """The bytes are no frame of HTTP/2."""


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """One frame.

    >>> frame(PING, ACK, 0, b"8 octets").hex(" ", 3)
    '000008 060100 000000 38206f 637465 7473'
    """
    size = len(payload)
    return _HEAD.pack(size >> 8, size & 0xFF, kind, flags, stream) + payload


def request(stream: int, headers: bytes, data: bytes) -> bytes:
    """The two frames of a stream with headers and one frame of data."""
    size, of_headers = len(data), len(headers)
    return b"%b%b%b%b" % (
        _HEAD.pack(of_headers >> 8, of_headers & 0xFF, HEADERS, END_HEADERS, stream),
        headers,
        _HEAD.pack(size >> 8, size & 0xFF, DATA, END_STREAM, stream),
        data,
    )


def settings(values: dict[int, int]) -> bytes:
    return frame(SETTINGS, 0, 0, b"".join(_SETTING.pack(name, value) for name, value in values.items()))


def window_update(stream: int, size: int) -> bytes:
    return frame(WINDOW_UPDATE, 0, stream, size.to_bytes(4, "big"))


def reset(stream: int, code: int) -> bytes:
    return frame(RST_STREAM, 0, stream, code.to_bytes(4, "big"))


def cut(buffer: bytearray) -> Iterator[Frame]:
    """Take the whole frames from the beginning of a buffer. Raises BrokenFrame."""
    position, end = 0, len(buffer)
    try:
        while position + _HEAD_BYTES <= end:
            high, low, kind, flags, stream = _HEAD.unpack_from(buffer, position)
            size = high << 8 | low
            if size > DEFAULT_FRAME:
                raise BrokenFrame(f"a frame of {size} bytes")
            begin = position + _HEAD_BYTES
            if begin + size > end:
                break
            position = begin + size
            yield kind, flags, stream & _STREAM_BITS, bytes(buffer[begin:position])
    finally:
        del buffer[:position]


def content(flags: int, payload: bytes) -> bytes:
    """The payload of DATA or HEADERS without its padding. Raises BrokenFrame."""
    if not flags & PADDED:
        return payload
    if not payload or payload[0] >= len(payload):
        raise BrokenFrame("a frame with more padding than bytes")
    return payload[1 : len(payload) - payload[0]]


def settings_in(payload: bytes) -> Iterator[tuple[int, int]]:
    """Names and values. Raises BrokenFrame."""
    if len(payload) % _SETTING.size:
        raise BrokenFrame(f"SETTINGS of {len(payload)} bytes")
    return _SETTING.iter_unpack(payload)


def number_at(payload: bytes, offset: int = 0) -> int:
    """Four bytes as a number: a code, or a window's or stream's number without its first bit. Raises BrokenFrame."""
    if len(payload) < offset + 4:
        raise BrokenFrame(f"a frame of {len(payload)} bytes")
    return int.from_bytes(payload[offset : offset + 4], "big") & _STREAM_BITS
