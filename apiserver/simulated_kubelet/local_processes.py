"""local_processes: runs commands of exec and attach as processes of this machine, for --simulate-local-processes.

Must hold: a process and the others of its session end with the request. One that begins a session of its own (setsid)
runs on, and keeps no request open.
"""

import asyncio
import pty
from contextlib import ExitStack
from io import FileIO

from aio_apiserver.apiserver.simulated_kubelet import channels, pseudo_terminals
from aio_apiserver.apiserver.simulated_kubelet.channels import ContainerStreams
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.simulation.processes import local_process
from aio_apiserver.simulation.processes.descriptors import Descriptor
from aio_apiserver.simulation.processes.local_process import (
    CannotStart,
    LocalCommand,
    LocalProcess,
    StandardFiles,
)

_TERMINAL = "xterm"


async def run(command: LocalCommand, streams: ContainerStreams, *, tty: bool, has_input: bool) -> int:
    """Run a command to its end. Returns its exit code."""
    with ExitStack() as stack:
        try:
            with local_process.starting():
                files = _terminal(stack) if tty else local_process.pipes(stack, has_input=has_input)
            async with local_process.started(_in_terminal(command) if tty else command, files) as process:
                return await _served(process, files, streams, tty=tty)
        except CannotStart as exc:
            channel = channels.STDOUT if tty else channels.STDERR
            await streams.write(channel, f"exec: {command.argv[0]}: {exc}\n".encode())
            return exc.code


def _in_terminal(command: LocalCommand) -> LocalCommand:
    env = {"TERM": _TERMINAL, **command.env}
    return LocalCommand(pseudo_terminals.taking(command.argv, env), env, command.directory)


def _terminal(stack: ExitStack) -> StandardFiles:
    main, other = (stack.enter_context(FileIO(one, "r+")) for one in pty.openpty())
    end = Descriptor(main)
    return StandardFiles(other, other, other, [(channels.STDOUT, end)], end)


async def _served(process: LocalProcess, files: StandardFiles, streams: ContainerStreams, *, tty: bool) -> int:
    """Copy between a process and its client, until the process has ended and its output is sent."""
    tasks = Tasks()
    try:
        if files.input is not None:
            tasks.spawn(_feed(files.input, streams, tty=tty), name="input of a local process")
        if files.input is not None and tty:
            size = pseudo_terminals.follow_size(files.input.number, streams)
            tasks.spawn(size, name="size of a local terminal")
        outputs = [
            tasks.spawn(source.forward(channel, streams), name="output of a local process")
            for channel, source in files.outputs
        ]
        code = await process.ended()
        for _, source in files.outputs:
            source.finish()
        await asyncio.gather(*outputs)
        return code
    finally:
        await tasks.close()


async def _feed(target: Descriptor, streams: ContainerStreams, *, tty: bool) -> None:
    """Give a process the input of its client. The end of the input closes a pipe, and leaves a terminal open."""
    await target.feed(streams)
    if not tty:
        target.close()
