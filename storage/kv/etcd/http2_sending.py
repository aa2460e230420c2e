"""http2_sending: what a client sends on the streams of one HTTP/2 connection, as fast as the server permits.

HTTP/2 has a window for each stream and one for the connection: the bytes of DATA that the receiver takes. The server
also limits the streams that are open at once. Knows no transport and reads no frames.

Must hold: no window and no limit is exceeded. The bytes of a stream go out in order.
"""

from collections import deque
from collections.abc import Callable

from msgspec import Struct

from aio_apiserver.storage.kv.etcd import http2_frames as frames


class _Half(Struct, eq=False):
    """Our half of a stream. window: the bytes that the server takes. is_last: `unsent` ends our half.

    headers: the block of a stream that the server does not permit yet.
    """

    window: int
    headers: bytes
    unsent: bytearray
    is_last: bool = False


class StreamSender:
    """The sending halves of a connection's streams. `write` takes frames."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._halves: dict[int, _Half] = {}
        self._waiting: deque[int] = deque()
        self._blocked: dict[int, _Half] = {}
        self._most_streams = 2**31
        self._window = self._stream_window = frames.DEFAULT_WINDOW
        self._frame_size = frames.DEFAULT_FRAME

    def open(self, number: int, headers: bytes) -> None:
        """Open a stream with a block of headers."""
        half = self._halves[number] = _Half(self._stream_window, headers, bytearray())
        if len(self._halves) > self._most_streams:
            self._waiting.append(number)
        else:
            self._begin(number, half)

    def request(self, number: int, headers: bytes, data: bytes) -> None:
        """Open a stream, and send all of its data. Most requests fit into the windows and into one frame."""
        size = len(data)
        has_room = size <= self._frame_size and size <= self._stream_window and size <= self._window
        if has_room and len(self._halves) < self._most_streams:
            self._window -= size
            self._halves[number] = _Half(self._stream_window - size, b"", bytearray(), is_last=True)
            self._write(frames.request(number, headers, data))
        else:
            self.open(number, headers)
            self.send(number, data, is_last=True)

    def send(self, number: int, data: bytes, *, is_last: bool) -> None:
        """Send data on an open stream."""
        half = self._halves[number]
        half.unsent += data
        half.is_last = is_last
        if not half.headers:
            self._send(number, half)

    def close(self, number: int) -> None:
        """Forget a stream that the server has ended; it learns that we send no more."""
        half = self._forget(number)
        if not half.headers and (half.unsent or not half.is_last):
            self._write(frames.reset(number, frames.NO_ERROR))
        if self._waiting or self._blocked:
            self.go_on()

    def cancel(self, number: int) -> None:
        """Forget a stream that the server has not ended."""
        if not self._forget(number).headers:
            self._write(frames.reset(number, frames.CANCEL))
        self.go_on()

    def has_begun(self, number: int) -> bool:
        """Whether anything of an open stream was sent."""
        return not self._halves[number].headers

    def widen(self, number: int, size: int) -> None:
        """The server takes so many more bytes on a stream, or on the connection (0)."""
        if not number:
            self._window += size
        elif number in self._halves:
            self._halves[number].window += size
        if self._blocked:
            self.go_on()

    def set_window(self, size: int) -> None:
        """The setting for the window of each stream, also of open ones."""
        for half in self._halves.values():
            half.window += size - self._stream_window
        self._stream_window = size

    def set_frame_size(self, size: int) -> None:
        self._frame_size = size

    def set_most_streams(self, most: int) -> None:
        self._most_streams = most

    def go_on(self) -> None:
        """Begin the streams that waited, and send what windows held back."""
        while self._waiting and len(self._halves) - len(self._waiting) < self._most_streams:
            number = self._waiting.popleft()
            half = self._halves[number]
            self._begin(number, half)
            self._send(number, half)
        if self._blocked:
            blocked, self._blocked = self._blocked, {}
            for number, half in blocked.items():
                self._send(number, half)

    def _forget(self, number: int) -> _Half:
        half = self._halves.pop(number)
        self._blocked.pop(number, None)
        if half.headers:
            self._waiting.remove(number)
        return half

    def _begin(self, number: int, half: _Half) -> None:
        self._write(frames.frame(frames.HEADERS, frames.END_HEADERS, number, half.headers))
        half.headers = b""

    def _send(self, number: int, half: _Half) -> None:
        while half.unsent:
            size = min(len(half.unsent), self._frame_size, half.window, self._window)
            if size <= 0:
                self._blocked[number] = half
                return
            data = bytes(half.unsent[:size])
            del half.unsent[:size]
            half.window -= size
            self._window -= size
            flags = frames.END_STREAM if half.is_last and not half.unsent else 0
            self._write(frames.frame(frames.DATA, flags, number, data))
