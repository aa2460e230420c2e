"""worker_requests: the recorded requests of all workers of this server, of which each has a record of its own.

A worker that does not answer in time is left out. The client gets the requests of this worker later.

    positions    4711:120,4712:85    how far the client has read the record of each process
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from aio_apiserver.apiserver.console.timeline.request_trace import MOST, RequestTrace
from aio_apiserver.apiserver.wire.local_questions import AskOthers, Respond

_QUESTION = "timeline"
_MOST_PROCESSES = 256


class ReadRequests(NamedTuple):
    """Requests, oldest first, and the positions up to which they go."""

    requests: Sequence[dict[str, Any]]
    positions: str


class WorkerRequests:
    """The records as one worker sees them. ask_others: None without other workers."""

    def __init__(self, trace: RequestTrace, ask_others: AskOthers | None) -> None:
        self._trace = trace
        self._ask_others = ask_others

    async def now(self) -> str:
        """The present positions."""
        return (await self.after(None)).positions

    async def after(self, positions: str | None) -> ReadRequests:
        """The requests after the positions. For None, an empty list with the present positions."""
        own = self._read("-" if positions is None else positions)
        parts = [own]
        if self._ask_others is not None:
            question = f"{_QUESTION}\t{'-' if positions is None else positions}"
            parts += filter(None, map(_answered, await self._ask_others(question)))
        reached = {**_parsed(positions or ""), **{part["process"]: part["position"] for part in parts}}
        requests = sorted((one for part in parts for one in part["requests"]), key=lambda one: one["at"])
        return ReadRequests(requests[-MOST:], _text(reached))

    def responses_to_others(self) -> Mapping[str, Respond]:
        """The answers to the questions of other workers."""

        async def respond(positions: str) -> bytes:
            return orjson.dumps(self._read(positions))

        return {_QUESTION: respond}

    def _read(self, positions: str) -> dict[str, Any]:
        """What this process has recorded after the positions; `-` is the present."""
        process, position = os.getpid(), self._trace.position
        since = position if positions == "-" else _parsed(positions).get(process, 0)
        requests = [{**one, "process": process} for one in self._trace.after(since)]
        return {"process": process, "position": position, "requests": requests}


def _answered(answer: bytes) -> dict[str, Any] | None:
    """What another worker has answered; None when the worker has ended in the middle."""
    try:
        part: dict[str, Any] = orjson.loads(answer)
    except ValueError:
        return None
    return part


def checked(positions: str) -> str:
    """The positions that a client has sent. Raises ValueError."""
    return _text(_parsed(positions))


def _parsed(positions: str) -> dict[int, int]:
    pairs = (one.split(":") for one in positions.split(",")[:_MOST_PROCESSES] if one)
    return {int(process): int(position) for process, position in pairs}


def _text(positions: Mapping[int, int]) -> str:
    return ",".join(f"{process}:{position}" for process, position in positions.items())
