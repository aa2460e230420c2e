"""Terminals: what they do with many keys."""

from aio_apiserver.apiserver.simulated_kubelet.channels import ContainerStreams
from aio_apiserver.apiserver.simulated_kubelet.programs import Terminal
from aio_apiserver.simulation.containers.turns import Turns, TurnShare
from tests.apiserver.simulated_kubelet.typed_streams import TypedStreams


def _terminal(*typed: bytes) -> tuple[Terminal, TypedStreams]:
    streams: ContainerStreams = (typing := TypedStreams(typed))
    return Terminal(streams, TurnShare(Turns(), "default")), typing


async def test_a_line_has_a_limit() -> None:
    terminal, streams = _terminal(b"x" * 10_000 + b"\ry\r")

    assert [len(await terminal.read()) for _ in range(3)] == [4_096, 2, 0]
    assert streams.written == b"x" * 4_095 + b"\r\ny\r\n"


async def test_many_keys_leave_the_event_loop_to_others() -> None:
    terminal, _ = _terminal(b"x\r" * 100_000)

    lines = [await terminal.read() for _ in range(50_000)]

    assert set(lines) == {b"x\n"}
