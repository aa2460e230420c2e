"""readers: python -m benchmarks.readers URL PATH COUNT ACCEPT ENCODING, a process whose clients read one response.

All read it at the same time. Large responses are decrypted here, and do not delay the measurements of the process that
has started this one.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvloop

from benchmarks import load
from benchmarks.processes import Serving


@asynccontextmanager
async def reading(
    serving: Serving, path: str, count: int, *, accept: str = "*/*", encoding: str = "identity"
) -> AsyncIterator["asyncio.subprocess.Process"]:
    """Such a process; the context ends when all responses have been read."""
    command = [sys.executable, "-m", __name__, serving.url, path, str(count), accept, encoding]
    process = await asyncio.create_subprocess_exec(*command)
    yield process
    if await process.wait():
        raise RuntimeError(f"{count} clients could not read {path}")


async def _read(url: str, path: str, count: int, accept: str, encoding: str) -> None:
    message = load.request("GET", path, accept=accept, encoding=encoding)
    async with load.clients(Serving("", url, 0, 0.0), count) as clients:
        await asyncio.gather(*(client.ask(message) for client in clients))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_read(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]))
