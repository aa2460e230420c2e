"""Reloading: files of the operator's that are looked at again while the server runs.

What is in them, others know. Must hold: a file is taken over when its content is another one, as a whole or not at all;
what cannot be used is told once, and leaves in force what was there before.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec import Struct, field

from aio_apiserver.storage.clock import Clock

logger = logging.getLogger(__name__)

PAUSE = 60.0
"""Seconds between two looks."""

Contents = Sequence[bytes]


def _ignore(_contents: Contents | None) -> None:
    """What is told of reloads where nobody wants to know."""


class Reloaded(Struct):
    """Some files that belong together. `contents` are those that are in force.

    take_over: raises OSError or TimeoutError where another try may succeed, ValueError where it will not.
    told: is called with the contents after each reload, and with None after each that failed.
    """

    name: str
    paths: Sequence[Path]
    take_over: Callable[[Contents], Awaitable[None]]
    contents: Contents
    told: Callable[[Contents | None], None] = field(default=_ignore)

    async def check(self) -> None:
        """Look at the files."""
        try:
            contents = await asyncio.to_thread(read, self.paths)
            if contents == self.contents:
                return
            await self._take_over(contents)
        except (OSError, ValueError) as exc:
            logger.error("cannot reload the %s, nothing changes: %s", self.name, exc)
            self.told(None)

    async def _take_over(self, contents: Contents) -> None:
        try:
            await self.take_over(contents)
        except ValueError:
            self.contents = contents  # they never will be right
            raise
        self.contents = contents
        logger.info("reloaded the %s", self.name)
        self.told(contents)


def read(paths: Sequence[Path]) -> Contents:
    """The contents of some files. Raises OSError."""
    return [path.read_bytes() for path in paths]


class Reloading:
    """All that is reloaded."""

    def __init__(self, items: Sequence[Reloaded], clock: Clock) -> None:
        self._items = items
        self._clock = clock
        self._checking = asyncio.Lock()

    async def run(self) -> None:
        """Look at everything, again and again, until it is cancelled."""
        while True:
            await self._clock.sleep(PAUSE)
            await self.check()

    async def check(self) -> None:
        """Look at everything now."""
        async with self._checking:
            for item in self._items:
                await item.check()
