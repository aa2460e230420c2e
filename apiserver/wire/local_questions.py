"""Local questions: short questions between processes of one server, over Unix sockets in a private folder.

A question is one line: its name, and after a tab its argument, if it has one. Its answer is all until the end of the
connection.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

Respond = Callable[[str], Awaitable[bytes]]
"""From the argument of a question to its answer."""
AskOthers = Callable[[str], Awaitable[Sequence[bytes]]]
"""Asks the other workers a question, and returns their answers."""

_OWNER_ONLY = 0o600


async def answer(path: Path, responses: Mapping[str, Respond], stack: AsyncExitStack) -> None:
    """Answer questions by name from now on. A question without an answer gets an empty one. Raises OSError."""
    path.unlink(missing_ok=True)  # noqa: ASYNC240 - a few file operations at the start
    server = await asyncio.start_unix_server(partial(_answer, responses), path, start_serving=False)
    path.chmod(_OWNER_ONLY)  # noqa: ASYNC240
    await server.start_serving()
    stack.callback(server.close)


async def ask(path: Path, question: str, *, seconds: float) -> bytes | None:
    """The answer of another process; None when it does not answer in time."""
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(f"{question}\n".encode())
                return await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return None


async def _answer(responses: Mapping[str, Respond], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        name, _, argument = (await reader.readline()).decode().strip("\n").partition("\t")
        respond = responses.get(name)
        if respond is not None:
            writer.write(await respond(argument))
            await writer.drain()
    except (OSError, ValueError):
        pass  # the process that asked has ended
    finally:
        writer.close()
