"""Stream servers: servers on loopback that run a coroutine for each connection.

Must hold: leaving the context ends every connection, whatever its client does, and its coroutine.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from aio_apiserver.base.tasks import Tasks

HOST = "127.0.0.1"

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def talking(talk: Talk, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A port with a server that runs `talk` on each connection, and closes the connection behind it."""
    tasks, writers = Tasks(), set[asyncio.StreamWriter]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, EOFError):  # its client has gone
                await talk(reader, writer)
        finally:
            writer.close()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        tasks.spawn(serve(reader, writer), name="connection of a test")

    server = await asyncio.start_server(begin, HOST, 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await tasks.close()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)
