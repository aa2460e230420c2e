"""Overload: thousands of connections list all pods without pause, beside a lease renewer, an administrator and a
kubelet.

Each of the three has its own priority level. Must hold: every request of theirs counts, with or without a response.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, TCPConnector

from tests.apiserver import neighbours, program
from tests.apiserver.neighbours import Attacked, Waits
from tests.attacks import rows

P99_SECONDS = 1.0
NORMAL_SECONDS = 5.0
"""The time after the overload in which response times are normal again."""
_PAUSE = 0.1
_CREATORS = 16
_LEASES = "/apis/coordination.k8s.io/v1/namespaces"
_RENEWERS = {
    "metadata": {"name": "renewers"},
    "roleRef": {"apiGroup": rows.RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [
        {"apiGroup": rows.RBAC, "kind": "User", "name": name} for name in ("system:kube-scheduler", "system:node:n1")
    ],
}
_USERS = "renewer-token,system:kube-scheduler,scheduler\nkubelet-token,system:node:n1,n1,system:nodes\n" + rows.TOKENS


async def run(directory: Path, *, connections: int, pods: int, seconds: float) -> str:
    """The figures of the overload. Fails when a bound is not kept."""
    tokens = directory / "tokens.csv"
    tokens.write_text(_USERS)
    async with neighbours.attacked(directory, f"--token-auth-file={tokens}") as one, AsyncExitStack() as stack:
        await _fill(one, pods)
        await one.create(f"/apis/{rows.RBAC}/v1/clusterrolebindings", _RENEWERS)
        clients = [
            (Waits("renewer"), _renewing(await _client(one, stack, "renewer-token"), "kube-system", "scheduler")),
            (Waits("administrator"), _reading(one)),
            (Waits("kubelet"), _renewing(await _client(one, stack, "kubelet-token"), "kube-node-lease", "n1")),
        ]
        told: list[str] = []
        attacking = asyncio.ensure_future(rows.attack("overload", one, told, count=connections, seconds=seconds))
        asking = [asyncio.ensure_future(_repeat(waits, ask)) for waits, ask in clients]
        before = one.memory
        await attacking
        most = one.memory
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        normal = await _until_normal(clients[1][1])
        shown = ", ".join(str(waits) for waits, _ in clients)
        found = f"{shown}; normal after {normal:.1f} s; {before} -> {most} MB; {told[0]}"
        for waits, _ in clients:
            assert waits.p99 <= P99_SECONDS, found
            assert not waits.wrong, found
        assert normal <= NORMAL_SECONDS, found
        assert ", 0 of 429 without" in told[0], found
        return found


async def _fill(one: Attacked, pods: int) -> None:
    """The attacker's rights, the leases, and so many pods."""
    await one.create(f"/apis/{rows.RBAC}/v1/clusterrolebindings", rows.RIGHTS)
    for namespace, name in (("kube-system", "scheduler"), ("kube-node-lease", "n1")):
        await one.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        status, _ = await one.create(f"{_LEASES}/{namespace}/leases", {"metadata": {"name": name}})
        assert status == 201, status
    await one.create("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    numbers = iter(range(pods))

    async def create() -> None:
        for number in numbers:
            status, _ = await one.create("/api/v1/namespaces/default/pods", _pod(number))
            assert status == 201, status

    await asyncio.gather(*(create() for _ in range(_CREATORS)))


def _pod(number: int) -> Any:
    container = {"name": "main", "image": "example.com/main", "env": [{"name": "TEXT", "value": "x" * 500}]}
    spec = {"containers": [container], "automountServiceAccountToken": False}
    return {"metadata": {"name": f"pod-{number}", "labels": {"app": "many"}}, "spec": spec}


async def _client(one: Attacked, stack: AsyncExitStack, token: str) -> Attacked:
    tls = program.trusting(one.program.directory)
    headers = {"Authorization": f"Bearer {token}"}
    session = await stack.enter_async_context(ClientSession(connector=TCPConnector(ssl=tls), headers=headers))
    return Attacked(one.program, session)


def _renewing(client: Attacked, namespace: str, name: str) -> Callable[[], Awaitable[int]]:
    """Writes of a lease."""
    url = f"{client.url}{_LEASES}/{namespace}/leases/{name}"
    headers = {"Content-Type": "application/merge-patch+json"}

    async def renew() -> int:
        spec = {"spec": {"holderIdentity": f"me-{time.time_ns()}"}}
        async with client.session.patch(url, json=spec, headers=headers) as answer:
            await answer.read()
            return answer.status

    return renew


def _reading(client: Attacked) -> Callable[[], Awaitable[int]]:
    """Reads of an administrator."""

    async def read() -> int:
        async with client.session.get(f"{client.url}/api/v1/namespaces/default/configmaps/neighbour") as answer:
            await answer.read()
            return answer.status

    return read


async def _repeat(waits: Waits, ask: Callable[[], Awaitable[int]]) -> None:
    while True:
        began = time.monotonic()
        try:
            waits.wrong += await ask() != 200
        finally:
            waits.seconds.append(time.monotonic() - began)
        await asyncio.sleep(_PAUSE)


async def _until_normal(ask: Callable[[], Awaitable[int]]) -> float:
    """Seconds until ten requests in a row take less than 100 ms each."""
    began, quick = time.monotonic(), 0
    while quick < 10 and time.monotonic() - began < 60:
        asked = time.monotonic()
        await ask()
        quick = quick + 1 if time.monotonic() - asked < rows.P99_SECONDS else 0
    return time.monotonic() - began
