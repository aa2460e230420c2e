"""Siblings: the other workers of this server: whether they are ready, and what they have counted.

Must hold: a worker that does not answer in time is reported as a problem, and holds up no answer for longer than that.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from aio_apiserver.apiserver.wire import local_questions
from aio_apiserver.apiserver.wire.local_questions import Respond
from aio_apiserver.apiserver.workers.slots import WorkerSlot
from aio_apiserver.base.clock import Clock

READY = "ready"
"""The question whether a worker is ready. The answer is empty while it is not."""
IS_READY = b"yes"

_SECONDS = 1.0
_PAUSE = 0.02


class Siblings:
    """The other workers."""

    def __init__(self, slot: WorkerSlot, clock: Clock) -> None:
        self._slot = slot
        self._clock = clock
        self._others = [number for number in range(slot.workers) if number != slot.number]

    @property
    def is_first(self) -> bool:
        """Whether this worker does what one worker has to do for all."""
        return self._slot.is_first

    async def answer(self, responses: Mapping[str, Respond], stack: AsyncExitStack) -> None:
        """Answer the questions of the others. Raises OSError."""
        await local_questions.answer(self._slot.socket_of(self._slot.number), responses, stack)

    async def ask(self, question: str) -> Sequence[bytes]:
        """The answers of those that answer."""
        answers = await asyncio.gather(*(self._ask(number, question) for number in self._others))
        return [found for found in answers if found]

    async def probe(self) -> str:
        """The problem of the workers that are not ready; empty when all are."""
        answers = await asyncio.gather(*(self._ask(number, READY) for number in self._others))
        missing = [str(number) for number, found in zip(self._others, answers, strict=True) if found != IS_READY]
        return f"workers that are not ready: {', '.join(missing)}" if missing else ""

    async def wait_until_first_is_ready(self) -> None:
        """Return when the first worker has done its part of the start."""
        while await self._ask(0, READY) != IS_READY:
            await self._clock.sleep(_PAUSE)

    async def wait_until_all_are_ready(self) -> None:
        while await self.probe():
            await self._clock.sleep(_PAUSE)

    async def _ask(self, number: int, question: str) -> bytes | None:
        return await local_questions.ask(self._slot.socket_of(number), question, seconds=_SECONDS)
