"""Recent frames: encoded batches of watch events, kept for the next watchers that get the same events.

Must hold: the kept frames stay below their limit; the oldest make room.
"""

from collections.abc import Iterator, MutableMapping

from aio_apiserver.storage.interface import Encoder, WatchEvent

LIMIT_BYTES = 4 * 1024 * 1024

_Key = tuple[Encoder, tuple[WatchEvent, ...]]


class RecentFrames(MutableMapping[_Key, bytes]):
    """The frames of one resource."""

    def __init__(self, limit: int = LIMIT_BYTES) -> None:
        self._limit = limit
        self._bytes = 0
        self._frames: dict[_Key, bytes] = {}

    def __getitem__(self, key: _Key) -> bytes:
        return self._frames[key]

    def __setitem__(self, key: _Key, frame: bytes) -> None:
        self._frames[key] = frame
        self._bytes += len(frame)
        while self._bytes > self._limit:
            del self[next(iter(self))]

    def __delitem__(self, key: _Key) -> None:
        self._bytes -= len(self._frames.pop(key))

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def clear(self) -> None:
        """Forget all frames."""
        self._frames.clear()
        self._bytes = 0
