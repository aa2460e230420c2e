"""Programs: runs a simulated program with the streams of a client."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from aio_apiserver.apiserver.simulated_kubelet import channels
from aio_apiserver.apiserver.simulated_kubelet.channels import ContainerStreams
from aio_apiserver.apiserver.simulated_kubelet.terminals import Terminal
from aio_apiserver.base.clock import Clock
from aio_apiserver.simulation.containers.shell import Shell
from aio_apiserver.simulation.containers.steps import FOREVER, Input, Pause, Steps, Written

Read = Callable[[], Awaitable[bytes]]
_PROMPT = "/ # "


async def run(shell: Shell, argv: Sequence[str], streams: ContainerStreams, clock: Clock, *, tty: bool) -> int:
    """Run a program to its end. Returns its exit code."""
    if not tty:
        return await _drive(shell.execute(argv), streams.read, streams, clock)
    terminal = Terminal(streams)
    shell.env.update({"TERM": "xterm", "PS1": _PROMPT})
    return await _drive(shell.execute(argv), terminal.read, terminal, clock)


async def _drive(steps: Steps, read: Read, output: ContainerStreams | Terminal, clock: Clock) -> int:
    sent: bytes | None = None
    while True:
        try:
            step = steps.send(sent)
        except StopIteration as end:
            return int(end.value)
        sent = None
        if isinstance(step, Written):
            await output.write(channels.STDOUT if step.stream == 1 else channels.STDERR, step.data)
        elif isinstance(step, Input):
            sent = await read()
        elif isinstance(step, Pause):
            await _pause(step.seconds, clock)


async def _pause(seconds: float, clock: Clock) -> None:
    if seconds == FOREVER:
        await asyncio.Event().wait()
    elif seconds:
        await clock.sleep(seconds)
    else:
        await asyncio.sleep(0)
