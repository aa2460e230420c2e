"""Terminals: Bash sessions with an empty environment, for the commands of the pages.

A session ends with all processes that its commands left running.
"""

import asyncio
import os
import re
import signal
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

_PASSED_ON = re.compile(r"PATH$|PIP_|https?_proxy$|no_proxy$|SSL_CERT_", re.IGNORECASE)
"""The variables with which a machine finds its programs, and pip its packages."""
_ENDED = "-- ended with "
_LONGEST_LINE = 1 << 20
_GRACE = 15.0


class Terminal:
    """A session of Bash: commands are typed, and what they print is read."""

    def __init__(self, shell: Process) -> None:
        assert shell.stdin
        assert shell.stdout
        self._input = shell.stdin
        self._output = shell.stdout
        self._drained: asyncio.Task[None] | None = None

    async def type(self, command: str) -> tuple[int, str]:
        """Run a command; its exit status, and what the terminal showed meanwhile."""
        self._input.write(f"{command}\nprintf '\\n{_ENDED}%s\\n' $?\n".encode())
        await self._input.drain()
        shown = ""
        while not (line := await self._line()).startswith(_ENDED):
            shown += line
        return int(line.removeprefix(_ENDED)), shown.removesuffix("\n")

    async def serve(self, command: str, *, until: str) -> str:
        """Start a server; its first line that begins with `until`. What it prints later is dropped."""
        self._input.write(f"exec {command}\n".encode())
        await self._input.drain()
        while not (line := await self._line()).startswith(until):
            pass
        self._drained = asyncio.create_task(self._drain())
        return line.strip()

    async def _line(self) -> str:
        line = (await self._output.readline()).decode(errors="replace")
        if not line:
            raise EOFError("the terminal closed")
        return line

    async def _drain(self) -> None:
        while await self._output.read(_LONGEST_LINE):
            pass


@asynccontextmanager
async def opened(folder: Path, home: Path, *, grace: float = _GRACE) -> AsyncIterator[Terminal]:
    """A terminal in a folder, whose environment has a home and the way to the programs of this machine.

    grace: the seconds that its first program has to end after SIGTERM. All that is left then gets SIGKILL.
    """
    passed_on = {name: value for name, value in os.environ.items() if _PASSED_ON.match(name)}
    shell = await asyncio.create_subprocess_exec(
        *("bash", "--noprofile", "--norc"),
        cwd=folder,
        env={**passed_on, "HOME": str(home), "LANG": "C.UTF-8"},
        stdin=PIPE,
        stdout=PIPE,
        stderr=STDOUT,
        start_new_session=True,
        limit=_LONGEST_LINE,
    )
    try:
        yield Terminal(shell)
    finally:
        await _end(shell, grace)


async def _end(shell: Process, grace: float) -> None:
    """Send SIGTERM to the processes of the session, and SIGKILL to those that are left."""
    assert shell.stdin
    shell.stdin.close()
    with suppress(ProcessLookupError):
        os.killpg(shell.pid, signal.SIGTERM)
        with suppress(TimeoutError):
            await asyncio.wait_for(shell.wait(), grace)
        os.killpg(shell.pid, signal.SIGKILL)
    await shell.wait()
