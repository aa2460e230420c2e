"""Compaction: removes compacted rows and frees their space, in the background.

Must hold: it works in short steps between other writes. After a restart it continues where it stopped. After an error
it tries again later.
"""

import asyncio
import logging

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.kv.sqlite import upkeep
from aio_apiserver.storage.kv.sqlite.commands import Sweep
from aio_apiserver.storage.kv.sqlite.workers import Job
from aio_apiserver.storage.kv.sqlite.writer import Writer

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 30.0


class RowSweeper:
    """One background task, which runs while there are rows to remove. `measure` notes the freed space."""

    def __init__(self, writer: Writer, measure: Job[None], *, clock: Clock, tasks: Tasks) -> None:
        self._writer = writer
        self._measure = measure
        self._clock = clock
        self._tasks = tasks
        self._task: asyncio.Task[None] | None = None
        self._is_wanted = False

    def start(self) -> None:
        """Start, or continue if it runs already."""
        self._is_wanted = True
        if self._task is None or self._task.done():
            self._task = self._tasks.spawn(self._work(), name="sqlite kv: compaction")

    async def _work(self) -> None:
        while self._is_wanted:
            self._is_wanted = False
            try:
                await self._remove()
            except StorageError as exc:
                logger.warning("compaction stopped, trying again in %.0f s: %s", _RETRY_SECONDS, exc)
                self._is_wanted = True
                await self._clock.sleep(_RETRY_SECONDS)

    async def _remove(self) -> None:
        is_swept = False
        while not is_swept:
            is_swept = await self._writer.submit(Sweep())
        await self._writer.run_chore(self._measure)
        is_vacuumed = False
        while not is_vacuumed:
            is_vacuumed = await self._writer.run_chore(upkeep.vacuum_step, log_bytes=upkeep.VACUUM_LOG_BYTES)
        await self._writer.run_chore(upkeep.truncate_log)
