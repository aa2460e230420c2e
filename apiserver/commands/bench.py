"""Bench: `apiserver bench`, the speed of a running server, as its clients see it.

It makes config maps in a namespace of its own, and removes it at the end. Must hold: no other object is changed. A
request that fails ends the command.
"""

import asyncio
import itertools
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.apiserver.commands.terminal import command_lines, output
from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine, text_flag
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.apiserver.outgoing import clusters
from aio_apiserver.apiserver.outgoing.clusters import Cluster, ClusterConfig, ClusterFailed
from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.registry.base.golang import durations

_OWN = (
    text_flag("kubeconfig", "The kubeconfig of the server; that in --data-dir, or kubectl's, when it is not given."),
    text_flag("context", "Its context; the current one when it is not given."),
    text_flag("duration", "How long each operation is measured.", "3s"),
    text_flag("connections", "The requests that are under way at the same time.", "16"),
    output.flag(),
)
_HEAD = ("OPERATION", "REQUESTS", "PER SECOND", "P50 MS", "P99 MS")
_DATA = {"key": "x" * 1000}
_PAGE = 500
MANUAL = CommandManual(
    about="Measures a running server from outside, with config maps of 1 KB: creates, gets, patches, lists, and the "
    "time from a create to its event. It works in a namespace of its own, which it deletes at the end. The command "
    "takes CPU time of the machine, too.",
    usage=("bench [--kubeconfig FILE] [--context NAME] [--duration 3s] [--connections 16] [-o table|yaml|json]",),
    flags=_OWN,
    examples=(
        CommandExample("bench --data-dir=data", "the server of a data directory"),
        CommandExample("bench --kubeconfig ~/.kube/config --duration 10s -o json", "any cluster, for a program"),
    ),
)

Step = Callable[[int], Awaitable[object]]


class MeasuredOperation(Struct, frozen=True):
    """An operation, with the seconds of each request, and those of all together."""

    name: str
    times: Sequence[float]
    seconds: float

    @property
    def per_second(self) -> float:
        return len(self.times) / self.seconds

    def percentile(self, share: float) -> float:
        """The milliseconds in which a share of the requests was answered."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000


def run(arguments: Sequence[str]) -> int:
    """Measure. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse_flags("bench", arguments, _OWN)
    command_lines.check_one_source("bench", line, "kubeconfig", "data-dir")
    form = output.form_of(line)
    try:
        seconds = durations.parse(line.text("duration"))
    except ValueError as exc:
        raise UsageError(f"bench: --duration: {exc}") from exc
    number = line.text("connections")
    connections = int(number) if number.isascii() and number.isdigit() else 0
    if seconds <= 0 or connections < 1:
        raise UsageError("bench: --duration and --connections must be above zero")
    return command_lines.run(lambda: _bench(line, form, seconds, connections))


def _config(line: CommandLine) -> ClusterConfig:
    """The cluster of --kubeconfig, of a --data-dir that is given, or of kubectl's file. Raises OSError, ValueError."""
    written = line.settings.kubeconfig_file
    is_named = "data_dir" in line.settings.model_fields_set
    return clusters.chosen(line.text("kubeconfig") or (str(written) if is_named else ""), line.text("context"), written)


async def _bench(line: CommandLine, form: str, seconds: float, connections: int) -> int:
    config = _config(line)
    async with clusters.opened(config) as cluster, _namespace(cluster) as path:
        found = await _Measuring(cluster, path, SystemClock(), seconds, connections).all()
    output.show(
        form,
        head=_HEAD,
        rows=[
            (one.name, str(len(one.times)), f"{one.per_second:.0f}", *(f"{one.percentile(p):.2f}" for p in (0.5, 0.99)))
            for one in found
        ],
        document=lambda: [
            {
                "operation": one.name,
                "requests": len(one.times),
                "perSecond": one.per_second,
                "p50Milliseconds": one.percentile(0.5),
                "p99Milliseconds": one.percentile(0.99),
            }
            for one in found
        ],
    )
    return 0


@asynccontextmanager
async def _namespace(cluster: Cluster) -> AsyncIterator[str]:
    """The path of the config maps in a new namespace, which goes in the end with all of them."""
    name = f"bench-{secrets.token_hex(4)}"
    await cluster.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    path = f"/api/v1/namespaces/{name}/configmaps"
    try:
        yield path
    finally:
        await cluster.request("DELETE", path)
        await _delete(cluster, name)


async def _delete(cluster: Cluster, namespace: str) -> None:
    """Delete a namespace without config maps. Where no controllers run, nothing else is in it, and it is finalized.

    Where they run, the namespace controller may have finalized it before.
    """
    path = f"/api/v1/namespaces/{namespace}"
    await cluster.request("DELETE", path)
    accounts = await cluster.request("GET", f"{path}/serviceaccounts")
    if accounts["items"]:
        return
    finalized = {"metadata": {"name": namespace}, "spec": {"finalizers": []}}
    try:
        await cluster.request("PUT", f"{path}/finalize", finalized)
    except ClusterFailed as exc:
        if exc.status not in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
            raise


class _Measuring:
    """The operations on one path."""

    def __init__(self, cluster: Cluster, path: str, clock: Clock, seconds: float, connections: int) -> None:
        self._cluster = cluster
        self._path = path
        self._clock = clock
        self._seconds = seconds
        self._connections = connections
        self._made = 0

    async def all(self) -> Sequence[MeasuredOperation]:
        steps: dict[str, Step] = {"create": self._create, "get": self._get, "patch": self._patch, "list": self._list}
        return [*[await self._measured(name, step) for name, step in steps.items()], await self._watched()]

    async def _measured(self, name: str, step: Step) -> MeasuredOperation:
        """Run a step again and again, on all connections, until the time is over."""
        numbers, times = itertools.count(), list[float]()
        began = self._clock.monotonic()

        async def repeat() -> None:
            while (start := self._clock.monotonic()) < began + self._seconds:
                await step(next(numbers))
                times.append(self._clock.monotonic() - start)

        await asyncio.gather(*(repeat() for _ in range(self._connections)))
        return MeasuredOperation(name, times, self._clock.monotonic() - began)

    async def _create(self, number: int) -> None:
        await self._cluster.request("POST", self._path, {"metadata": {"name": f"m{number}"}, "data": _DATA})
        self._made = max(self._made, number + 1)

    async def _get(self, number: int) -> None:
        await self._cluster.request("GET", f"{self._path}/m{number % self._made}")

    async def _patch(self, number: int) -> None:
        await self._cluster.request(
            "PATCH",
            f"{self._path}/m{number % self._made}",
            {"data": {"number": str(number)}},
            **{"Content-Type": "application/merge-patch+json"},
        )

    async def _list(self, _number: int) -> None:
        async with self._cluster.answer("GET", f"{self._path}?limit={_PAGE}&resourceVersion=0") as answer:
            await answer.read()

    async def _watched(self) -> MeasuredOperation:
        """The times from a create to its event, one create after the other."""
        times: list[float] = []
        listed = await self._cluster.request("GET", f"{self._path}?limit=1")
        query = f"watch=1&resourceVersion={listed['metadata']['resourceVersion']}"
        began = self._clock.monotonic()
        async with self._cluster.answer("GET", f"{self._path}?{query}") as answer:
            while (start := self._clock.monotonic()) < began + self._seconds:
                name = f"w{len(times)}"
                await asyncio.gather(
                    self._cluster.request("POST", self._path, {"metadata": {"name": name}}), _event_of(answer, name)
                )
                times.append(self._clock.monotonic() - start)
        return MeasuredOperation("watch", times, self._clock.monotonic() - began)


async def _event_of(answer: Any, name: str) -> None:
    """Return when the event of an object has come."""
    while line := await answer.content.readline():
        if orjson.loads(line)["object"]["metadata"]["name"] == name:
            return
    raise ConnectionResetError("the watch has ended")
