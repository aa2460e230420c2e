"""Writer: group commit. The writes that arrive while one group is being committed form the next group.

It lives on the event loop: it keeps the waiting callers and chooses the next group. The Committer does the work, on the
one thread that may write.

Must hold: results and events come in the order of revisions. The events of a write come before its result, so that its
caller finds no watch or revision behind it. Upkeep waits for one group at most, and a group for one step of upkeep.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.kv.interface import Event
from aio_apiserver.storage.kv.sqlite import upkeep
from aio_apiserver.storage.kv.sqlite.commands import Command
from aio_apiserver.storage.kv.sqlite.committer import CommandFailure, Committed, Committer
from aio_apiserver.storage.kv.sqlite.error_codes import ErrorTranslator
from aio_apiserver.storage.kv.sqlite.schema import Connection
from aio_apiserver.storage.kv.sqlite.workers import Job, Workers, settling

logger = logging.getLogger(__name__)

_GROUP_COMMANDS = 256
_GROUP_BYTES = 8 << 20

T = TypeVar("T")
Publish = Callable[[Sequence[Event], int], None]


class _Request(Struct, frozen=True):
    command: Command
    future: asyncio.Future[Any]


class Writer:
    """Owns `workers`, which has one thread. `settled` is called after each group, also after one that failed."""

    def __init__(
        self,
        workers: Workers,
        committer: Committer,
        *,
        faults: ErrorTranslator,
        publish: Publish,
        settled: Callable[[], None],
        tasks: Tasks,
    ) -> None:
        self.is_doubtful = False
        """Whether the last write failed on the disk."""
        self._workers = workers
        self._committer = committer
        self._faults = faults
        self._publish = publish
        self._settled = settled
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._requests: deque[_Request] = deque()
        self._chores: deque[tuple[Job[Any], asyncio.Future[Any]]] = deque()
        self._is_busy = False
        self._is_chore_next = False
        self._is_stopping = False
        self._log_bytes = 0
        self._counts = Counter(groups=0, commands=0, failures=0)

    async def submit(self, command: Command) -> Any:
        """Run a command. Returns its result when it is durable."""
        future = self._loop.create_future()
        self._requests.append(_Request(command, future))
        self._proceed_soon()
        return await future

    async def run_chore(self, job: Job[T], *, log_bytes: int = 0) -> T:
        """Run a short job on the writer's connection, between groups. `log_bytes`: its size in the write-ahead log."""
        self._note_log(log_bytes)
        future: asyncio.Future[T] = self._loop.create_future()
        self._chores.append((job, future))
        self._proceed_soon()
        return await future

    async def stop(self) -> None:
        """Commit the queued writes, shorten the log, and end the thread."""
        self._is_stopping = True
        while self._requests:
            await self.run_chore(_nothing)
        try:
            await self.run_chore(upkeep.truncate_log)
        except StorageError as exc:
            logger.warning("cannot truncate the write-ahead log: %s", exc)
        await self._workers.stop()

    def statistics(self) -> Mapping[str, int]:
        return {**self._counts, "queued": len(self._requests)}

    def _proceed_soon(self) -> None:
        """Start at the end of the loop's iteration, so that all writes of this iteration form one group."""
        if not self._is_busy and len(self._requests) + len(self._chores) == 1:
            self._loop.call_soon(self._proceed)

    def _proceed(self) -> None:
        if self._is_busy:
            return
        if self._chores and (self._is_chore_next or not self._requests):
            self._start_chore(*self._chores.popleft())
        elif self._requests:
            self._start_group(self._take_group())

    def _take_group(self) -> Sequence[_Request]:
        group: list[_Request] = []
        size = 0
        while self._requests and len(group) < _GROUP_COMMANDS and size < _GROUP_BYTES:
            group.append(self._requests.popleft())
            size += group[-1].command.size
        return group

    def _start_group(self, group: Sequence[_Request]) -> None:
        commands = [request.command for request in group]

        def commit(connection: Connection) -> Committed:
            return self._committer.commit(connection, commands)

        def settle(committed: Committed, failure: Exception | None) -> None:
            self._is_busy = False
            self._deliver(group, committed if failure is None else _all_failed(failure, group))
            self._proceed()

        self._is_busy = self._is_chore_next = True
        self._workers.submit(commit, settle)

    def _start_chore(self, job: Job[Any], future: asyncio.Future[Any]) -> None:
        def work(connection: Connection) -> Any:
            self._workers.give_back()
            return job(connection)

        def settle(result: Any, failure: Exception | None) -> None:
            self._is_busy = False
            settling(future)(result, failure and self._faults.translate(failure))
            self._proceed()

        self._is_busy, self._is_chore_next = True, False
        self._workers.submit(work, settle)

    def _deliver(self, group: Sequence[_Request], committed: Committed) -> None:
        if committed.events:
            self._publish(committed.events, committed.revision)
        for request, result in zip(group, committed.results, strict=True):
            self._answer(request.future, result)
        self._counts["groups"] += 1
        self._counts["commands"] += len(group)
        self._counts["failures"] += committed.is_failure_of_store
        self._note_log(committed.log_bytes)
        if committed.is_failure_of_store or committed.changes:
            self.is_doubtful = committed.is_failure_of_store
        self._settled()

    def _answer(self, future: asyncio.Future[Any], result: Any) -> None:
        if future.done():
            return  # the caller was cancelled; its write stays
        if isinstance(result, CommandFailure):
            future.set_exception(self._faults.translate(result.cause, is_commit=result.is_commit))
        else:
            future.set_result(result)

    def _note_log(self, log_bytes: int) -> None:
        self._log_bytes += log_bytes
        if self._log_bytes >= upkeep.LOG_BYTES and not self._is_stopping:
            self._log_bytes = 0
            self._tasks.spawn(self._checkpoint(), name="sqlite kv: checkpoint")

    async def _checkpoint(self) -> None:
        try:
            await self.run_chore(upkeep.checkpoint)
        except StorageError as exc:
            logger.warning("checkpoint failed, the write-ahead log grows until one succeeds: %s", exc)


def _all_failed(failure: Exception, group: Sequence[_Request]) -> Committed:
    return Committed([CommandFailure(failure)] * len(group), (), 0)


def _nothing(_connection: Connection) -> None:
    """A chore that waits for the group before it."""
