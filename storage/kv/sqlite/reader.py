"""Reader: runs reads on threads. Gets have a thread of their own, so that no long range delays them.

It lives on the event loop. All gets of one iteration of the loop go to the thread together, on one snapshot: a
hand-over costs more than a read. Ranges and replays go to a few threads, one by one.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.kv.interface import GetResult, RangeResult
from aio_apiserver.storage.kv.replay import Replay, Replayed
from aio_apiserver.storage.kv.sqlite import reads
from aio_apiserver.storage.kv.sqlite.error_codes import ErrorTranslator
from aio_apiserver.storage.kv.sqlite.schema import Connection
from aio_apiserver.storage.kv.sqlite.workers import Job, Workers

T = TypeVar("T")

_Waiting = tuple[reads.Get, asyncio.Future[GetResult]]


class SqliteReader:
    """Reads on two sets of workers."""

    def __init__(self, *, gets: Workers, ranges: Workers, faults: ErrorTranslator) -> None:
        self._loop = asyncio.get_running_loop()
        self._get_workers = gets
        self._range_workers = ranges
        self._faults = faults
        self._waiting: list[_Waiting] = []
        self._counts = Counter(gets=0, ranges=0, replays=0)

    async def get(self, key: bytes, *, revision: int) -> GetResult:
        future: asyncio.Future[GetResult] = self._loop.create_future()
        if not self._waiting:
            self._loop.call_soon(self._hand_over)
        self._waiting.append((reads.Get(key, revision), future))
        self._counts["gets"] += 1
        return await future

    async def range(self, wanted: reads.Range) -> RangeResult:
        self._counts["ranges"] += 1
        return await self._run(lambda connection: reads.read_range(connection, wanted))

    async def replay(self, wanted: Replay) -> Replayed:
        self._counts["replays"] += 1
        return await self._run(lambda connection: reads.replay(connection, wanted))

    async def stop(self) -> None:
        """Finish the pending reads, and end the threads."""
        self._hand_over()
        await self._get_workers.stop()
        await self._range_workers.stop()

    def statistics(self) -> Mapping[str, int]:
        return dict(self._counts)

    async def _run(self, job: Job[T]) -> T:
        try:
            return await self._range_workers.run(job)
        except (sqlite3.Error, OSError) as exc:
            raise self._faults.translate(exc) from exc

    def _hand_over(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        gets = [get for get, _ in waiting]

        def job(connection: Connection) -> Sequence[GetResult | StorageError]:
            return reads.get_all(connection, gets)

        def settle(results: Sequence[GetResult | StorageError], failure: Exception | None) -> None:
            for index, (_, future) in enumerate(waiting):
                if future.done():
                    continue
                result = self._faults.translate(failure) if failure is not None else results[index]
                if isinstance(result, GetResult):
                    future.set_result(result)
                else:
                    future.set_exception(result)

        self._get_workers.submit(job, settle)
