from collections.abc import Sequence

from aio_apiserver.storage.cacher.recent_frames import RecentFrames
from aio_apiserver.storage.interface import WatchEvent, WatchEventType


def _encoder(_events: Sequence[WatchEvent]) -> bytes:
    return b""


def test_the_oldest_frames_make_room() -> None:
    frames = RecentFrames(limit=10)
    keys = [(_encoder, (WatchEvent(WatchEventType.BOOKMARK, None, revision),)) for revision in range(3)]

    for key in keys:
        frames[key] = b"12345"

    assert list(frames) == keys[1:]
    frames.clear()
    assert not frames
