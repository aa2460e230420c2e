"""Ignored frames: reads the frames that the client of a watch sends on its WebSocket. All but pings and the close are
ignored.

A message may have any number of empty fragments, of 6 bytes each, and a client may send pings without pause. So frames
are counted: a client has a number of them at once, and some more in each second. kube-apiserver ignores frames without
a limit.

Must hold: no payload is kept but that of the latest ping. A client with too many frames is disconnected, and the close
frame says why. What is behind a close or a mistake is not read.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from aiohttp import WebSocketError, WSCloseCode, WSMessage, WSMsgType

_AT_ONCE = 200
_PER_SECOND = 10
_COUNTED_BYTES = 4096
"""A longer frame counts as several."""
_LONGEST = 64 * 1024
_LONGEST_CONTROL = 125
_FIN = _MASK = 0x80
_RESERVED = 0x70
_KIND = 0x0F
_CONTROL = 0x8
_KINDS = frozenset(
    (
        *(WSMsgType.CONTINUATION, WSMsgType.TEXT, WSMsgType.BINARY),
        *(WSMsgType.CLOSE, WSMsgType.PING, WSMsgType.PONG),
    )
)
_MASK_BYTES = 4
_LENGTH_BYTES = {126: 2, 127: 8}
"""The bytes of a length behind the first two bytes, by the seven bits in these."""


class MessageQueue(Protocol):
    """aiohttp's queue of the messages of a client."""

    def feed_data(self, data: WSMessage, size: int) -> None: ...

    def set_exception(self, exc: BaseException) -> None: ...

    def feed_eof(self) -> None: ...


class IgnoredFrames:
    """The frames of one client, in the form of aiohttp's readers. `seconds`: a reading of a clock."""

    def __init__(self, messages: MessageQueue, seconds: Callable[[], float]) -> None:
        self._messages = messages
        self._seconds = seconds
        self._counted_at = seconds()
        self._allowance = float(_AT_ONCE)
        self._beginning = b""
        """The beginning of a frame whose head has not come, or whose payload is read."""
        self._to_skip = 0
        """The bytes of a payload that have not come."""
        self._is_over = False

    def feed_eof(self) -> None:
        self._messages.feed_eof()

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Read some bytes. Returns whether the connection is to close, and nothing that was not read."""
        now = self._seconds()
        self._allowance = min(self._allowance + (now - self._counted_at) * _PER_SECOND, _AT_ONCE)
        self._counted_at = now
        try:
            self._read(self._beginning + data)
        except WebSocketError as mistake:
            self._is_over = True
            self._messages.set_exception(mistake)
            return True, b""
        return False, b""

    def _read(self, data: bytes) -> None:
        at, pings, closes = 0, list[WSMessage](), list[WSMessage]()
        while not self._is_over:
            skipped = min(self._to_skip, len(data) - at)
            at, self._to_skip = at + skipped, self._to_skip - skipped
            head = _head_at(data, at)
            if head is None or (head.is_control and len(data) < head.end):
                break
            self._count(head)
            if not head.is_control:
                at, self._to_skip = head.payload, head.length
                continue
            at = head.end
            if head.kind == WSMsgType.PING:
                pings = [WSMessage(WSMsgType.PING, _payload(data, head), "")]  # one pong is enough
            elif head.kind == WSMsgType.CLOSE:
                self._is_over = True
                closes = [WSMessage(WSMsgType.CLOSE, int.from_bytes(_payload(data, head)[:2], "big"), "")]
        self._beginning = b"" if self._is_over else data[at:]
        for message in (*pings, *closes):
            self._messages.feed_data(message, _LONGEST_CONTROL)

    def _count(self, head: "_Head") -> None:
        self._allowance -= 1 + head.length // _COUNTED_BYTES
        if self._allowance < 0:
            raise WebSocketError(WSCloseCode.POLICY_VIOLATION, "the client of a watch has sent too many frames")


class _Head(NamedTuple):
    """The head of one frame. `payload`: where its payload begins."""

    kind: int
    payload: int
    length: int

    @property
    def is_control(self) -> bool:
        return self.kind >= _CONTROL

    @property
    def end(self) -> int:
        return self.payload + self.length


def _head_at(data: bytes, at: int) -> _Head | None:
    """The head of the frame that begins here; None when more of it is to come. Raises WebSocketError."""
    if len(data) < at + 2:
        return None
    first, second = data[at], data[at + 1]
    kind, length = first & _KIND, second & ~_MASK
    is_wrong_control = kind >= _CONTROL and not (first & _FIN and length <= _LONGEST_CONTROL)
    if first & _RESERVED or kind not in _KINDS or not second & _MASK or is_wrong_control:
        raise WebSocketError(WSCloseCode.PROTOCOL_ERROR, "the client of a watch has sent a wrong frame")
    payload = at + 2 + _LENGTH_BYTES.get(length, 0) + _MASK_BYTES
    if len(data) < payload:
        return None
    if length in _LENGTH_BYTES:
        length = int.from_bytes(data[at + 2 : payload - _MASK_BYTES], "big")
    if length > _LONGEST:
        raise WebSocketError(WSCloseCode.MESSAGE_TOO_BIG, f"a frame has at most {_LONGEST} bytes")
    return _Head(kind, payload, length)


def _payload(data: bytes, head: _Head) -> bytes:
    """The payload without its mask."""
    mask = data[head.payload - _MASK_BYTES : head.payload]
    return bytes(byte ^ mask[index % _MASK_BYTES] for index, byte in enumerate(data[head.payload : head.end]))
