"""storms: many informers that list and watch again at once, because their server was killed and has started anew.

Each informer follows the config maps of one namespace, as client-go does: a list, then a watch from its version. Must
hold: an informer counts as synced when its watch has begun, and its list has every object.
"""

import asyncio
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from aiohttp import ClientSession
from msgspec import Struct

from tests.apiserver import neighbours, program
from tests.apiserver.program import Program

_WRITERS = 32
_DATA = {"key": "value" * 40}


class Scale(Struct, frozen=True):
    """The size of a storm. The objects are spread over the namespaces, and the informers, too."""

    informers: int
    objects: int
    namespaces: int

    @property
    def in_each(self) -> int:
        return self.objects // self.namespaces


class Storm(NamedTuple):
    """The outcome: seconds from readiness until all are synced, megabytes after that, and the most before."""

    synced: float
    memory: float
    peak: float

    def __str__(self) -> str:
        share = self.peak / self.memory
        return (
            f"all synced after {self.synced:.1f} s; memory {self.memory:.0f} MB, at most {self.peak:.0f} ({share:.2f}x)"
        )


async def run(directory: Path, scale: Scale) -> Storm:
    """Fill a server, kill it, start it again, and let all informers come at once."""
    async with program.running(directory, backend="sqlite") as first, neighbours.session_of(first) as session:
        await _fill(session, first, scale)
        first.process.send_signal(signal.SIGKILL)
        await first.process.wait()
    (directory / "ready").unlink(missing_ok=True)
    async with program.running(directory, backend="sqlite") as second, neighbours.session_of(second) as session:
        began = time.monotonic()
        async with asyncio.TaskGroup() as tasks:
            for number in range(scale.informers):
                tasks.create_task(_sync(session, second, number % scale.namespaces, scale))
        synced = time.monotonic() - began
        return Storm(synced, _megabytes(second, "VmRSS"), _megabytes(second, "VmHWM"))


async def _sync(session: ClientSession, server: Program, namespace: int, scale: Scale) -> None:
    url = f"{server.url}{_path(namespace)}"
    async with session.get(url, params={"resourceVersion": "0"}) as response:
        listed = await response.json()
    assert len(listed["items"]) == scale.in_each, f"{len(listed['items'])} of {scale.in_each} objects"
    watch = {"watch": "1", "resourceVersion": listed["metadata"]["resourceVersion"], "timeoutSeconds": "600"}
    async with session.get(url, params=watch) as response:
        assert response.status == 200, response.status


async def _fill(session: ClientSession, server: Program, scale: Scale) -> None:
    async def create(paths: Iterator[tuple[str, str]]) -> None:
        for path, name in paths:
            body = {"metadata": {"name": name}, "data": _DATA}
            async with session.post(f"{server.url}{path}", json=body) as response:
                assert response.status == 201, await response.text()

    for namespace in range(scale.namespaces):
        await create(iter([("/api/v1/namespaces", f"storm-{namespace}")]))
    paths = ((_path(number % scale.namespaces), f"object-{number}") for number in range(scale.objects))
    await asyncio.gather(*(create(paths) for _ in range(_WRITERS)))


def _path(namespace: int) -> str:
    return f"/api/v1/namespaces/storm-{namespace}/configmaps"


def _megabytes(server: Program, field: str) -> float:
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024
