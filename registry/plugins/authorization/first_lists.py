"""First lists: authorizers that decide by stored objects wait here until those have been listed once."""

import asyncio

from aio_apiserver.storage.errors import Initializing

PATIENCE_SECONDS = 10.0
"""A request waits so long, as it does for a watch cache."""


class FirstLists:
    """Whether all objects of an authorizer have been listed. what: their name in an error."""

    def __init__(self, what: str, *, patience: float = PATIENCE_SECONDS) -> None:
        self._what = what
        self._patience = patience
        self.are_complete = False
        self._completed = asyncio.Event()

    def complete(self) -> None:
        """Let all requests that wait go on."""
        self.are_complete = True
        self._completed.set()

    async def wait(self) -> None:
        """Return when all objects have been listed. Raises Initializing after the patience."""
        if self.are_complete:
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._completed.wait()
        except TimeoutError:
            raise Initializing(f"storage is (re)initializing: {self._what} are not listed yet") from None
