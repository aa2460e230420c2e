"""worker_requests: the recorded requests of all workers of this server, of which each has a record of its own.

A worker that does not answer in time is left out. The client gets the requests of this worker later.

    positions    9f3a01bc:120,04d2ee71:85    how far the client has read each record

Records have random names, because a process id is used again after its process has ended. Must hold: of workers that
do not answer, which may have ended, the last 16 have a position.
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import orjson
from msgspec import to_builtins

from aio_apiserver.apiserver.console.timeline.request_trace import MOST, RequestTrace
from aio_apiserver.apiserver.console.timeline.traced_request import TracedRequest
from aio_apiserver.apiserver.wire.local_questions import AskOthers, Respond
from aio_apiserver.base import worker_thread

_QUESTION = "timeline"
_MOST_RECORDS = 256
_MOST_SILENT = 16
_USUAL_BYTES = 1000
"""One recorded request as JSON."""
_TIME = itemgetter("at")
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
        return (await self.after(None, worker_thread.STORE)).positions

    async def after(self, positions: str | None, user: str) -> ReadRequests:
        """The requests after the positions. For None, an empty list with the present positions. user: the one who
        gets them.
        """
        parts = [await self._read("-" if positions is None else positions, user)]
        if self._ask_others is not None:
            question = f"{_QUESTION}\t{'-' if positions is None else positions}"
            for answer in await self._ask_others(question):
                part = await worker_thread.run_sized(partial(_answered, answer), len(answer), user)
                parts += [part] if part is not None else []
        answered = {part["record"]: part["position"] for part in parts}
        silent = [(name, at) for name, at in _parsed(positions or "").items() if name not in answered]
        requests = sorted((one for part in parts for one in part["requests"]), key=_TIME)
        return ReadRequests(requests[-MOST:], _text({**dict(silent[-_MOST_SILENT:]), **answered}))

    def responses_to_others(self) -> Mapping[str, Respond]:
        """The answers to the questions of other workers."""

        async def respond(positions: str) -> bytes:
            part = await self._read(positions, worker_thread.STORE)
            size = len(part["requests"]) * _USUAL_BYTES
            return await worker_thread.run_sized(partial(orjson.dumps, part), size, worker_thread.STORE)

        return {_QUESTION: respond}

    async def _read(self, positions: str, user: str) -> dict[str, Any]:
        """What this process has recorded after the positions; `-` is the present."""
        record, position = self._trace.record, self._trace.position
        since = position if positions == "-" else _parsed(positions).get(record, 0)
        newer = self._trace.after(since)
        requests = await worker_thread.run_sized(partial(_as_json, newer, record), len(newer) * _USUAL_BYTES, user)
        return {"record": record, "position": position, "requests": requests}


def _as_json(requests: Sequence[TracedRequest], record: str) -> list[dict[str, Any]]:
    """The requests as JSON, with their process."""
    process = os.getpid()
    return [{**to_builtins(one), "record": record, "process": process} for one in requests]


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
