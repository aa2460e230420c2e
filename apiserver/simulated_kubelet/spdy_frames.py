"""SPDY frames: the frames of SPDY/3.1 that kubectl's streams use: reads them from bytes, and writes them.

Pure, but for the state of the two header compressions. A worked example, the data of stream 1 with the flag FIN:

    00000001 01 000002 6869        stream 1, FIN, 2 bytes, "hi"
    8003 0001 00 ...               control frame: version 3, SYN_STREAM

The data of a long frame come in pieces. Must hold: one frame costs little to read, whatever it says about its length,
its headers and their number.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

SYN_STREAM, SYN_REPLY, RESET, PING, GO_AWAY, HEADERS = 1, 2, 3, 6, 7, 8
DATA = 0
FIN = 1
PROTOCOL_ERROR, REFUSED_STREAM = 1, 3
_CONTROL = 0x8000
_VERSION = 3
_HEAD = 8
_LONGEST_CONTROL = 16 * 1024
_LONGEST_HEADERS = 16 * 1024
"""The bytes of the headers of a frame, when they are unpacked."""
_MOST_HEADERS = 64
_HEADERS_AT = {SYN_STREAM: 10, SYN_REPLY: 4, HEADERS: 4}
"""Where the packed headers begin in the frames that have them."""
_WORDS = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status|200 OK|version HTTP/1.1 url public set-cookie "
    "keep-alive origin"
)
_TAIL = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized"
    "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
    "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _dictionary() -> bytes:
    """The dictionary of SPDY/3's header compression."""
    words = [word for part in _WORDS.split("|") for word in ([part] if part == "200 OK" else part.split())]
    return b"".join(_prefixed(word.encode()) for word in words) + _TAIL.encode()


def _prefixed(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


DICTIONARY = _dictionary()


class SPDYFrame(NamedTuple):
    """A frame. `kind` is DATA or the type of a control frame; `headers` are those of SYN_STREAM."""

    kind: int
    stream: int
    is_last: bool = False
    data: bytes = b""
    headers: Mapping[str, str] = {}


class SPDYFrames:
    """Both directions of one connection."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._data_left = 0
        """The bytes that are missing of the last data frame."""
        self._data = SPDYFrame(DATA, 0)
        """The stream and the flag of that frame."""
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._deflate = zlib.compressobj(zdict=DICTIONARY)

    def feed(self, data: bytes) -> None:
        """Add bytes of the client."""
        self._buffer += data

    def read(self) -> Iterator[SPDYFrame]:
        """The frames that have arrived. Raises ValueError, zlib.error, struct.error."""
        while (frame := self._next()) is not None:
            yield frame

    def _next(self) -> SPDYFrame | None:
        if self._data_left:
            return self._more_data()
        if len(self._buffer) < _HEAD:
            return None
        first, second = struct.unpack_from(">II", self._buffer)
        size, flags = second & 0xFFFFFF, second >> 24
        if not first >> 31:
            self._data_left, self._data = size, SPDYFrame(DATA, first, bool(flags & FIN))
            del self._buffer[:_HEAD]
            return self._more_data() if size else self._data
        if size > _LONGEST_CONTROL:
            raise ValueError("too long a control frame")
        if len(self._buffer) < _HEAD + size:
            return None
        body = bytes(self._buffer[_HEAD : _HEAD + size])
        del self._buffer[: _HEAD + size]
        return self._control(first & 0xFFFF, flags, body)

    def _more_data(self) -> SPDYFrame | None:
        """The next piece of a data frame. The flag of the frame is that of its last piece."""
        piece = bytes(self._buffer[: self._data_left])
        if not piece:
            return None
        del self._buffer[: len(piece)]
        self._data_left -= len(piece)
        return self._data._replace(data=piece, is_last=self._data.is_last and not self._data_left)

    def _control(self, kind: int, flags: int, body: bytes) -> SPDYFrame:
        stream = struct.unpack_from(">I", body)[0] & 0x7FFFFFFF if len(body) >= 4 else 0
        if kind not in _HEADERS_AT:
            return SPDYFrame(kind, stream, bool(flags & FIN), body)
        block = self._inflate.decompress(body[_HEADERS_AT[kind] :], _LONGEST_HEADERS)
        if self._inflate.unconsumed_tail:
            raise ValueError("too long headers")
        return SPDYFrame(kind, stream, bool(flags & FIN), headers=_headers(block))

    def reply(self, stream: int) -> bytes:
        """SYN_REPLY without headers."""
        block = self._deflate.compress(struct.pack(">I", 0)) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        return control(SYN_REPLY, struct.pack(">I", stream) + block)


def control(kind: int, body: bytes) -> bytes:
    return struct.pack(">HHI", _CONTROL | _VERSION, kind, len(body)) + body


def data_frame(stream: int, data: bytes, *, is_last: bool = False) -> bytes:
    return struct.pack(">II", stream, (FIN << 24 if is_last else 0) | len(data)) + data


def reset(stream: int, status: int) -> bytes:
    """RST_STREAM with a status."""
    return control(RESET, struct.pack(">II", stream, status))


def _headers(block: bytes) -> dict[str, str]:
    (count,) = struct.unpack_from(">I", block)
    if count > _MOST_HEADERS:
        raise ValueError("too many headers")
    texts, at = [], 4
    for _ in range(2 * count):
        (size,) = struct.unpack_from(">I", block, at)
        text = block[at + 4 : at + 4 + size]
        if len(text) != size:
            raise ValueError("a header that does not end")
        texts.append(text.decode("latin-1"))
        at += 4 + size
    return dict(zip(texts[::2], texts[1::2], strict=True))
