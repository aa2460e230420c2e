"""worker_requests: the recorded requests of all workers of this server, of which each has a record of its own.

A worker that does not answer in time is left out. The client gets the requests of this worker later.

    positions    9f3a01bc:120,04d2ee71:85    how far the client has read each record

Records have random names, because a process id is used again after its process has ended. Must hold: of workers that
do not answer, which may have ended, the last 16 have a position.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from aio_apiserver.apiserver.console.timeline.request_trace import MOST, RequestTrace
from aio_apiserver.apiserver.wire.local_questions import AskOthers, Respond

_QUESTION = "timeline"
_MOST_RECORDS = 256
_MOST_SILENT = 16
_POSITION = re.compile(r"([0-9a-f]{8}):([0-9]{1,18})")


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
        answered = {part["record"]: part["position"] for part in parts}
        silent = [(name, at) for name, at in _parsed(positions or "").items() if name not in answered]
        requests = sorted((one for part in parts for one in part["requests"]), key=lambda one: one["at"])
        return ReadRequests(requests[-MOST:], _text({**dict(silent[-_MOST_SILENT:]), **answered}))

    def responses_to_others(self) -> Mapping[str, Respond]:
        """The answers to the questions of other workers."""

        async def respond(positions: str) -> bytes:
            return orjson.dumps(self._read(positions))

        return {_QUESTION: respond}

    def _read(self, positions: str) -> dict[str, Any]:
        """What this process has recorded after the positions; `-` is the present."""
        record, position = self._trace.record, self._trace.position
        since = position if positions == "-" else _parsed(positions).get(record, 0)
        requests = [{**one, "record": record, "process": os.getpid()} for one in self._trace.after(since)]
        return {"record": record, "position": position, "requests": requests}


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


def _parsed(positions: str) -> dict[str, int]:
    """The position in each record. Raises ValueError."""
    found = [_POSITION.fullmatch(one) for one in positions.split(",")[:_MOST_RECORDS] if one]
    if None in found:
        raise ValueError(positions)
    return {one[1]: int(one[2]) for one in found if one is not None}


def _text(positions: Mapping[str, int]) -> str:
    return ",".join(f"{record}:{position}" for record, position in positions.items())
