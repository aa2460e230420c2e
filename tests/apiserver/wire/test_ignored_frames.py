"""The frames of a watch's client are ignored, and counted."""

import pytest
from aiohttp import WebSocketError, WSCloseCode, WSMessage, WSMsgType

from aio_apiserver.apiserver.wire.ignored_frames import IgnoredFrames
from aio_apiserver.base.clock import ManualClock

MASK = b"\x01\x02\x03\x04"
TEXT, PING, PONG, CLOSE = WSMsgType.TEXT, WSMsgType.PING, WSMsgType.PONG, WSMsgType.CLOSE
FLOOD = 10_000


class Heard:
    """Records what aiohttp's queue gets."""

    def __init__(self) -> None:
        self.messages: list[tuple[WSMsgType, object]] = []
        self.failure: BaseException | None = None
        self.has_ended = False

    def feed_data(self, data: WSMessage, _size: int) -> None:
        self.messages.append((data.type, data.data))

    def set_exception(self, exc: BaseException) -> None:
        self.failure = exc

    def feed_eof(self) -> None:
        self.has_ended = True


def frame(kind: int, payload: bytes = b"", *, is_last: bool = True) -> bytes:
    """A masked frame, as clients send it."""
    size = len(payload)
    short, width = (size, 0) if size < 126 else (126, 2) if size <= 0xFFFF else (127, 8)
    length = bytes((short,)) + (size.to_bytes(width, "big") if width else b"")
    masked = bytes(byte ^ MASK[index % 4] for index, byte in enumerate(payload))
    return bytes((is_last << 7 | kind, length[0] | 0x80)) + length[1:] + MASK + masked


def heard(*pieces: bytes) -> Heard:
    """What is heard of these bytes."""
    found = Heard()
    frames = IgnoredFrames(found, ManualClock().monotonic)
    for piece in pieces:
        frames.feed_data(piece)
    return found


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
def test_pings_and_the_close_are_heard_whatever_comes_between(step: int) -> None:
    text = frame(TEXT, b"a" * 3, is_last=False) + frame(PONG, b"x") + frame(0, b"b" * 300) + frame(2)
    data = text + frame(PING, b"one") + text + frame(CLOSE, (1001).to_bytes(2, "big") + b"bye") + frame(PING, b"late")

    found = heard(*(data[start : start + step] for start in range(0, len(data), step)))

    assert found.messages[-1] == (CLOSE, 1001)
    assert (PING, b"one") in found.messages
    assert (PING, b"late") not in found.messages
    assert found.failure is None


def test_one_pong_is_enough_for_pings_that_come_together() -> None:
    assert heard(frame(PING, b"1") + frame(PING, b"2") + frame(PING, b"3")).messages == [(PING, b"3")]


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(frame(0, is_last=False), id="empty fragments"),
        pytest.param(frame(PING), id="pings"),
        pytest.param(frame(PONG), id="pongs"),
        pytest.param(frame(TEXT, b"x" * 60_000), id="long messages"),
    ],
)
def test_a_client_that_floods_is_disconnected_soon(one: bytes) -> None:
    found = heard(frame(TEXT, is_last=False) + one * (FLOOD if len(one) < 100 else 20))

    assert isinstance(found.failure, WebSocketError)
    assert found.failure.code == WSCloseCode.POLICY_VIOLATION
    assert len(found.messages) <= 1


def test_a_client_may_send_a_ping_each_second_for_ever() -> None:
    found, clock = Heard(), ManualClock()
    frames = IgnoredFrames(found, clock.monotonic)

    for _ in range(1_000):
        clock.advance(1)
        assert frames.feed_data(frame(PING)) == (False, b"")

    assert (len(found.messages), found.failure) == (1_000, None)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        pytest.param(b"\x81\x00", WSCloseCode.PROTOCOL_ERROR, id="no mask"),
        pytest.param(b"\xc1\x80" + MASK, WSCloseCode.PROTOCOL_ERROR, id="a reserved bit"),
        pytest.param(frame(3), WSCloseCode.PROTOCOL_ERROR, id="an unknown kind"),
        pytest.param(frame(PING, is_last=False), WSCloseCode.PROTOCOL_ERROR, id="a fragment of a ping"),
        pytest.param(frame(PING, b"x" * 126), WSCloseCode.PROTOCOL_ERROR, id="a long ping"),
        pytest.param(frame(TEXT, b"x" * 70_000), WSCloseCode.MESSAGE_TOO_BIG, id="a long frame"),
        pytest.param(b"\x81\xff" + b"\xff" * 8 + MASK, WSCloseCode.MESSAGE_TOO_BIG, id="a frame without end"),
    ],
)
def test_what_is_wrong_ends_the_connection_and_is_not_read_on(wrong: bytes, code: WSCloseCode) -> None:
    found = Heard()
    frames = IgnoredFrames(found, ManualClock().monotonic)

    is_end, _ = frames.feed_data(wrong + frame(CLOSE))
    frames.feed_data(frame(CLOSE))

    assert is_end
    assert isinstance(found.failure, WebSocketError)
    assert found.failure.code == code
    assert not found.messages


def test_the_end_of_the_connection_is_passed_on() -> None:
    found = Heard()

    IgnoredFrames(found, ManualClock().monotonic).feed_eof()

    assert found.has_ended
