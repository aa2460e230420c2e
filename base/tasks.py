"""Tasks: owns the asyncio tasks of one component.

Must hold: no task outlives its owner. The failure of a task is logged at once and raised again by `close`.
"""

import asyncio
import logging
from collections.abc import Coroutine
from contextvars import Context
from typing import Any

logger = logging.getLogger(__name__)


class Tasks:
    """Spawns tasks and ends them together."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        self._failures: list[BaseException] = []

    def spawn(self, work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        """Run `work` until it returns, fails or the owner closes. It is no part of the trace of a request."""
        task = asyncio.get_running_loop().create_task(work, name=name, context=Context())
        self._running.add(task)
        task.add_done_callback(self._settle)
        return task

    async def close(self) -> None:
        """Cancel the running tasks, wait for them, and raise earlier failures."""
        while running := [task for task in self._running if task is not asyncio.current_task()]:
            for task in running:  # they may spawn others on their way out
                task.cancel()
            await asyncio.wait(running)  # it yields also when all have just ended
        failures, self._failures = self._failures, []
        if failures:
            raise BaseExceptionGroup("background tasks failed", failures)

    def _settle(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if task.cancelled():
            return
        failure = task.exception()
        if failure is not None:
            logger.error("task %s failed", task.get_name(), exc_info=failure)
            self._failures.append(failure)
