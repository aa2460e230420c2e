"""Many writers: writers without pause, beside the readers of another user and the renewals of 100 nodes.

Two processes keep the processors busy meanwhile. Must hold: a request without a response counts as well.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.apiserver import neighbours
from tests.attacks import crowds, rows
from tests.attacks.crowds import Figures

RENEWAL_SECONDS = 0.25
MOST_TIMES = 3
"""The most that the response time of a reader may grow."""
_SOME = {"readers": 64, "renewers": crowds.NODES}
_USUAL = "64 writers"
_TOO_MANY = "600 writers"
"""More than flow control lets one user have under way and in queues. Most of what they cost is their connections."""
_BUSY = 2
_RIGHTS = {
    "metadata": {"name": "all"},
    "roleRef": {"apiGroup": rows.RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"apiGroup": rows.RBAC, "kind": "Group", "name": "system:authenticated"}],
}


async def run(directory: Path, *, seconds: float) -> str:
    """The figures of all crowds. Fails when a bound is not kept."""
    tokens = directory / "tokens.csv"
    tokens.write_text(crowds.TOKENS)
    async with neighbours.attacked(directory, f"--token-auth-file={tokens}") as one, _busy():
        await one.create(f"/apis/{rows.RBAC}/v1/clusterrolebindings", _RIGHTS)
        for number in range(crowds.NODES):
            status, _ = await one.create(crowds.LEASES, {"metadata": {"name": f"n{number}"}})
            assert status == 201, status

        async def figures(**more: int) -> Mapping[str, Figures]:
            return await crowds.beside_each_other(one.program.port, one.program.process.pid, {**_SOME, **more}, seconds)

        alone = await figures()
        rounds = {
            _USUAL: await figures(writers=64),
            "64 anonymous writers": await figures(anonymous=64),
            _TOO_MANY: await figures(writers=600),
        }
    told = "\n  ".join(_told(name, crowd) for name, crowd in {"alone": alone, **rounds}.items())
    problems = [problem for name, crowd in rounds.items() for problem in _problems(name, crowd, alone)]
    statuses = rounds[_TOO_MANY]["writers"].statuses
    if set(statuses) != {"201", "429"}:
        problems.append(f"some of {_TOO_MANY} are served and some refused: {statuses}")
    assert not problems, f"{', '.join(problems)}\n  {told}"
    return f"\n  {told}"


def _problems(name: str, crowd: Mapping[str, Figures], alone: Mapping[str, Figures]) -> list[str]:
    readers, renewers = crowd["readers"], crowd["renewers"]
    kept = {
        "p99 of renewals <= 250 ms": renewers.p99 <= RENEWAL_SECONDS,
        "renewals succeed": set(renewers.statuses) == {"200"},
        "reads succeed": set(readers.statuses) == {"200"},
        "p99 of reads <= 3 times that without writers": name == _TOO_MANY
        or readers.p99 <= MOST_TIMES * alone["readers"].p99,
        "64 writers are served": name != _USUAL or set(crowd["writers"].statuses) == {"201"},
    }
    return [f"beside {name}: {bound}" for bound, is_kept in kept.items() if not is_kept]


def _told(name: str, crowd: Mapping[str, Figures]) -> str:
    return "; ".join([name, *(f"{kind} {figures}" for kind, figures in crowd.items())])


@asynccontextmanager
async def _busy() -> AsyncIterator[None]:
    """Processes that use all of the processors that they get."""
    processes = [await asyncio.create_subprocess_exec(sys.executable, "-c", "while True: pass") for _ in range(_BUSY)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            await process.wait()
