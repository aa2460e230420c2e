"""Reloading: watches files of flags, and applies their content when it changes while the server runs.

It does not know the content. Must hold: a change is applied as a whole or not at all. An invalid content is logged
once, and the old one stays in force.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec import Struct, field

from aio_apiserver.base.clock import Clock

logger = logging.getLogger(__name__)

PAUSE = 60.0
"""Seconds between two checks."""

Contents = Sequence[bytes]


def _ignore(_contents: Contents | None) -> None:
    """The default for `told`."""


class Reloaded(Struct):
    """A group of files. `contents` are those in force.

    take_over: applies new contents. It raises OSError or TimeoutError when a later try may succeed, else ValueError.
    told: called with the contents after each reload, and with None after each failed one.
    """

    name: str
    paths: Sequence[Path]
    take_over: Callable[[Contents], Awaitable[None]]
    contents: Contents
    changed: Callable[[Contents | None], None] = field(default=_ignore)

    async def check(self) -> None:
        """Read the files, and apply them when they have changed."""
        try:
            contents = await asyncio.to_thread(read, self.paths)
            if contents == self.contents:
                return
            await self._take_over(contents)
        except (OSError, ValueError) as exc:
            logger.error("cannot reload the %s, nothing changes: %s", self.name, exc)
            self.changed(None)
        except Exception:  # another file must still be reloaded
            logger.exception("cannot reload the %s, nothing changes", self.name)
            self.changed(None)

    async def _take_over(self, contents: Contents) -> None:
        try:
            await self.take_over(contents)
        except ValueError:
            self.contents = contents  # they never will be right
            raise
        self.contents = contents
        logger.info("reloaded the %s", self.name)
        self.changed(contents)


def read(paths: Sequence[Path]) -> Contents:
    """The contents of some files. Raises OSError."""
    return [path.read_bytes() for path in paths]


class Reloading:
    """All groups of files that are reloaded."""

    def __init__(self, items: Sequence[Reloaded], clock: Clock) -> None:
        self._items = items
        self._clock = clock
        self._checking = asyncio.Lock()

    async def run(self) -> None:
        """Check all groups every minute, until cancelled."""
        while True:
            await self._clock.sleep(PAUSE)
            await self.check()

    async def check(self) -> None:
        """Check all groups now."""
        async with self._checking:
            for item in self._items:
                await item.check()
