"""Logs: the log of a simulated container as an HTTP response, with the options of pods/log."""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Self

from aiohttp import web
from msgspec import Struct

from aio_apiserver.base.budget import BudgetExceeded
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.kept_items import KeptItems
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.yielding import in_slices
from aio_apiserver.controllers.runtime.pods import seconds
from aio_apiserver.simulation.containers.memory import Holder, Memory, OutOfMemory
from aio_apiserver.simulation.kubelet import container_logs, pod_courses
from aio_apiserver.simulation.kubelet.container_logs import LogLine
from aio_apiserver.simulation.kubelet.container_worlds import ContainerWorlds, status_of
from aio_apiserver.simulation.processes.local_containers import LocalContainers
from aio_apiserver.simulation.processes.process_log import ProcessLog

_PIECE = 64 * 1024
_MOST_KEPT = 10 * 1024 * 1024
_BYTES_OF_A_LINE = 200
_LOOK_SECONDS = 1.0
"""How often a follower looks whether its container still runs."""


class LogQuery(Struct, frozen=True):
    """The options of a request for a log."""

    follows: bool
    is_previous: bool
    has_times: bool
    since: float | None
    since_seconds: float | None
    most_lines: int | None
    most_bytes: int | None

    @classmethod
    def of(cls, query: Mapping[str, Sequence[str]]) -> Self:
        """The options in the query of a kubelet's path."""
        given = {name: values[-1] for name, values in query.items()}
        lines, size, ago = (given.get(name) for name in ("tailLines", "limitBytes", "sinceSeconds"))
        return cls(
            follows="follow" in given,
            is_previous="previous" in given,
            has_times="timestamps" in given,
            since=seconds(given["sinceTime"]) if "sinceTime" in given else None,
            since_seconds=float(ago) if ago else None,
            most_lines=int(lines) if lines else None,
            most_bytes=int(size) if size else None,
        )

    def selected(self, lines: Sequence[LogLine], now: float) -> Sequence[LogLine]:
        """The lines that the client wants of those that are there."""
        since = now - self.since_seconds if self.since_seconds is not None else self.since
        if since is not None:
            lines = [one for one in lines if one.time >= since]
        if self.most_lines is not None:
            lines = lines[len(lines) - self.most_lines :] if self.most_lines < len(lines) else lines
        return lines

    def encoded(self, line: LogLine) -> bytes:
        """A line as the client gets it."""
        if not self.has_times:
            return line.data
        time = datetime.fromtimestamp(line.time, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return b"".join(f"{time} ".encode() + one for one in line.data.splitlines(keepends=True))


class LogTail:
    """The newest lines of a log, up to the size at which a kubelet rotates it. `count`: of all lines."""

    def __init__(self, memory: Memory) -> None:
        self.lines = KeptItems[LogLine](_MOST_KEPT)
        self.count = 0
        self._memory = memory
        self._holder = Holder(memory)

    def append(self, line: LogLine) -> None:
        """Add a line. Raises BudgetExceeded when the simulated containers have no memory left."""
        self.count += 1
        self.lines.append(line, _BYTES_OF_A_LINE + len(line.data))
        try:
            self._holder.hold(self.lines.statistics()["bytes"])
        except OutOfMemory as exc:
            raise BudgetExceeded("bytes", self._memory.limit) from exc


async def _write(response: web.StreamResponse, lines: Sequence[LogLine], query: LogQuery) -> None:
    """Send lines in pieces, since a log can be long."""
    piece, left = bytearray(), sys.maxsize if query.most_bytes is None else query.most_bytes
    async for some in in_slices(lines):
        piece += b"".join(map(query.encoded, some))
        if len(piece) >= min(_PIECE, left):
            await response.write(piece[:left])
            left -= len(piece)
            if left <= 0:
                return
            piece.clear()
    await response.write(piece[:left])


class ContainerLogs:
    """The logs of all simulated containers of a server."""

    def __init__(self, worlds: ContainerWorlds, clock: Clock, containers: LocalContainers | None) -> None:
        self._worlds = worlds
        self._clock = clock
        self._containers = containers

    def log_of_process(self, pod: Object, container: Object, *, is_previous: bool = False) -> ProcessLog | None:
        """The log of a container that is a local process; None for other containers."""
        if self._containers is None or not pod_courses.runs_locally(pod, container):
            return None
        number = container_logs.run_of(pod, container["name"], is_previous=is_previous)
        return self._containers.log(pod["metadata"]["uid"], container["name"], number)

    async def send(
        self, request: web.BaseRequest, pod: Object, container: Object, query: LogQuery
    ) -> web.StreamResponse:
        """Send a log. Raises NoLog, BudgetExceeded."""
        name, now = container["name"], self._clock.now()
        began = container_logs.started_at(pod, name, is_previous=query.is_previous)
        end = container_logs.end_of(pod, name, now, is_previous=query.is_previous)
        log = self.log_of_process(pod, container, is_previous=query.is_previous)
        tail = LogTail(self._worlds.memory)
        async for one in self._lines(pod, container, began, log, until=end):
            tail.append(one)
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        await _write(response, query.selected(list(tail.lines), now), query)
        skipped = tail.count
        del tail
        if query.follows and not query.is_previous:
            written = self._lines(pod, container, began, log, until=None)
            await self._follow(request, response, pod, container, written, query, skipped)
        await response.write_eof()
        return response

    def _lines(
        self, pod: Object, container: Object, began: float, log: ProcessLog | None, *, until: float | None
    ) -> AsyncIterator[LogLine]:
        """The output up to a time; None to wait for more."""
        if log is not None:
            return container_logs.written(log, follows=until is None)
        if self._containers is not None and pod_courses.runs_locally(pod, container):
            return container_logs.lost(pod, container["name"])
        return container_logs.output(self._worlds, pod, container, began, self._clock, until=until)

    async def _follow(
        self,
        request: web.BaseRequest,
        response: web.StreamResponse,
        pod: Object,
        container: Object,
        written: AsyncIterator[LogLine],
        query: LogQuery,
        skipped: int,
    ) -> None:
        """Send what comes later, until the container ends or the client goes."""

        async def send() -> None:
            number = 0
            async for one in written:
                number += 1
                if number > skipped:
                    await response.write(query.encoded(one))
            await asyncio.Event().wait()

        tasks = Tasks()
        try:
            sending = tasks.spawn(send(), name="follow a log")
            ending = tasks.spawn(self._end_of(request, pod, container["name"]), name="end of a log")
            await asyncio.wait((sending, ending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await tasks.close()

    async def _end_of(self, request: web.BaseRequest, pod: Object, container: str) -> None:
        """Return when the container does not run any more, or the client has gone."""
        metadata, present = pod["metadata"], pod
        while "running" in (status_of(present, container).get("state") or {}):
            await self._clock.patience.sleep(_LOOK_SECONDS)
            found = await self._worlds.pod(metadata["namespace"], metadata["name"])
            is_gone = found is None or found["metadata"]["uid"] != metadata["uid"]
            if is_gone or request.transport is None or request.transport.is_closing():
                return
            assert found is not None
            present = found
