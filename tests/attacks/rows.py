"""Rows: what another user notices of one attack, and the memory that it takes and gives back.

The attacker and the other user come from a token file. Neither is an administrator, so that flow control sees them.
Must hold: a request without a response counts as well.
"""

import asyncio
import base64
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aiohttp import ClientSession, TCPConnector

from tests.apiserver import neighbours, program
from tests.apiserver.neighbours import Attacked, Waits
from tests.attacks import attackers

P99_SECONDS = 0.1
LONGEST_SECONDS = 1.0
MOST_MEGABYTES = 100
_ALONE_SECONDS = 5.0
_CALM_SECONDS = 15.0
_LOOK_SECONDS = 0.05
_ATTACKER, _OTHER = "eve-token", "jane-token"
TOKENS = f"{_ATTACKER},eve,eve\n{_OTHER},jane,jane\n"
RBAC = "rbac.authorization.k8s.io"
RIGHTS = {
    "metadata": {"name": "users"},
    "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"apiGroup": RBAC, "kind": "User", "name": name} for name in ("eve", "jane")],
}


@dataclass(frozen=True)
class Row:
    """The figures of one attack: response times of another user, megabytes before, at most and after, and the
    attacker's own words.
    """

    name: str
    alone: Sequence[Waits]
    waits: Sequence[Waits]
    megabytes: tuple[int, int, int]
    told: str

    def __str__(self) -> str:
        before, most, after = self.megabytes
        alone, during = (", ".join(map(str, waits)) for waits in (self.alone, self.waits))
        return f"{during} (alone {alone}); {before} -> {most} -> {after} MB; {self.told}"

    @property
    def problems(self) -> Sequence[str]:
        """The bounds that were not kept."""
        readyz, read = self.waits
        before, most, after = self.megabytes
        kept = {
            "/readyz answers within 1 s": readyz.longest <= LONGEST_SECONDS and not readyz.wrong,
            "p99 of GET <= 100 ms": read.p99 <= P99_SECONDS and not read.wrong,
            "longest GET <= 1 s": read.longest <= LONGEST_SECONDS,
            "memory grows by <= 100 MB": most - before <= MOST_MEGABYTES,
            "memory comes back": after - before <= MOST_MEGABYTES / 2,
        }
        return [bound for bound, is_kept in kept.items() if not is_kept]


async def row(name: str, directory: Path, *, count: int, seconds: float) -> str:
    """Run one attack; the figures. Fails when a bound is not kept."""
    found = await measured(name, directory, count=count, seconds=seconds)
    assert not found.problems, f"{found}: {', '.join(found.problems)}"
    return str(found)


async def measured(name: str, directory: Path, *, count: int, seconds: float) -> Row:
    """The figures of one attack."""
    tokens = directory / "tokens.csv"
    tokens.write_text(TOKENS)
    flags = (f"--token-auth-file={tokens}", *FLAGS.get(name, ()))
    async with neighbours.attacked(directory, *flags) as one:
        status, _ = await one.create(f"/apis/{RBAC}/v1/clusterrolebindings", RIGHTS)
        assert status == 201, status
        if name in PREPARATIONS:
            await PREPARATIONS[name](one)
        tls = program.trusting(one.program.directory)
        headers = {"Authorization": f"Bearer {_OTHER}"}
        async with ClientSession(connector=TCPConnector(ssl=tls), headers=headers) as session:
            other = Attacked(one.program, session)
            alone, before = await other.beside(asyncio.sleep(_ALONE_SECONDS)), one.memory
            told: list[str] = []
            most = [before]
            looking = asyncio.ensure_future(_look(one, most))
            waits = await other.beside(attack(name, one, told, count=count, seconds=seconds))
            await asyncio.sleep(_CALM_SECONDS)
            looking.cancel()
            return Row(name, alone, waits, (before, max(most), one.memory), told[0])


async def _with_secrets(one: Attacked) -> None:
    """81 secrets of 1 MB."""
    for number in range(81):
        data = {"text": base64.b64encode(os.urandom(700_000)).decode()}
        status, _ = await one.create(
            "/api/v1/namespaces/default/secrets", {"metadata": {"name": str(number)}, "data": data}
        )
        assert status == 201, status


async def _with_account(one: Attacked) -> None:
    """The service account that pods need."""
    status, _ = await one.create("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    assert status == 201, status


async def _with_changes(one: Attacked) -> None:
    """30 changes of a config map with 30,000 keys."""
    path = "/api/v1/namespaces/default/configmaps"
    status, _ = await one.create(path, {"metadata": {"name": "wide"}})
    assert status == 201, status
    for number in range(30):
        data = {f"key-{key}": f"{number}-{key}" for key in range(30_000)}
        async with one.session.put(
            f"{one.url}{path}/wide", json={"metadata": {"name": "wide"}, "data": data}
        ) as answer:
            assert answer.status == 200, answer.status


async def _with_values(one: Attacked) -> None:
    """48,000 values of secrets with a common beginning, and texts that come close to them."""
    for number in range(16):
        values = (f"{'abcdef' * 5}{value:015b}" for value in range(number * 3_000, number * 3_000 + 3_000))
        data = {f"key-{key}": base64.b64encode(value.encode()).decode() for key, value in enumerate(values)}
        path = "/api/v1/namespaces/default/secrets"
        status, _ = await one.create(path, {"metadata": {"name": f"values-{number}"}, "data": data})
        assert status == 201, status
    for number in range(20):
        text = {"text": f"{number}{'abcdef' * 20_000}"}
        path = "/api/v1/namespaces/default/configmaps"
        status, _ = await one.create(path, {"metadata": {"name": f"close-{number}"}, "data": text})
        assert status == 201, status


PREPARATIONS: Mapping[str, Callable[[Attacked], Awaitable[None]]] = {
    "containers": _with_account,
    "logs": _with_account,
    "tables": _with_secrets,
    "timelines": _with_changes,
    "reports": _with_values,
}
"""What is stored before an attack begins, so that its memory does not count for the attack."""


FLAGS: Mapping[str, Sequence[str]] = dict.fromkeys(("paths", "timelines", "reports"), ("--ui",))
"""What a server needs for an attack."""


async def attack(name: str, one: Attacked, told: list[str], *, count: int, seconds: float) -> None:
    ca = one.program.directory / "pki" / "ca.crt"
    words = (name, str(one.program.port), str(ca), _ATTACKER, str(count), str(seconds))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", attackers.__name__, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        out, err = await process.communicate()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    assert process.returncode == os.EX_OK, err.decode()
    told.append(out.decode())


async def _look(one: Attacked, most: list[int]) -> None:
    """Note the largest size in memory."""
    while True:
        most[0] = max(most[0], one.memory)
        await asyncio.sleep(_LOOK_SECONDS)
