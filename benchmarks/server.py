"""Server: the figures of the server beside a bare application on the same stack."""

import compileall
import itertools
import statistics
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import orjson

from benchmarks import engines, fan_out, load, processes
from benchmarks.figures import (
    MEGABYTES,
    MILLISECONDS,
    PER_SECOND,
    Figure,
    Reference,
    Target,
    at_least,
    at_most,
    share_of_at_least,
)
from benchmarks.processes import Serving
from benchmarks.rounds import medians

PODS = 18_000
STORED = 100_000
STARTS = 20
JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_NAMES = {JSON: "JSON", PROTOBUF: "protobuf", TABLE: "Table"}
_PATH = "/api/v1/namespaces/default/pods"
_PACKAGES = ("apiserver", "registry", "storage")
_ROUND_SECONDS = 0.7
_LIST_SECONDS = 2.0
_ROUNDS, _FEW = 7, 3
_AT_ONCE, _LISTS_AT_ONCE = 32, 4
_PAGE = 500


async def start() -> Sequence[Figure]:
    """From start to ready, with a new data directory and with a used one, and the memory after it."""
    new: list[float] = []
    used: list[float] = []
    memory: list[float] = []
    for package in _PACKAGES:
        compileall.compile_dir(package, quiet=1)  # as in an installation
    with engines.directory() as parent:
        for number in range(STARTS):
            directory = parent / str(number)
            directory.mkdir()
            new.append(_start(directory, memory))
            used.append(_start(directory, memory))
    return [
        *_figures_of_starts("with an empty data directory", new),
        *_figures_of_starts("with a used one", used),
        Figure("server: resident memory, idle", statistics.median(memory), MEGABYTES, target=at_most(90)),
    ]


def _start(directory: Path, memory: list[float]) -> float:
    with processes.server(directory) as serving:
        memory.append(serving.resident_megabytes())
        return serving.seconds_to_ready


def _figures_of_starts(how: str, seconds: Sequence[float]) -> list[Figure]:
    median, slow = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    return [
        Figure(f"server: start to ready {how}, median", 1e3 * median, MILLISECONDS, target=at_most(500)),
        Figure(f"server: start to ready {how}, p95", 1e3 * slow, MILLISECONDS),
    ]


@dataclass(frozen=True, slots=True)
class Pair:
    """The server with its pods, and the ceiling with the same responses."""

    server: Serving
    ceiling: Serving
    pods_per_second: float

    async def compared(
        self,
        name: str,
        measure: Callable[[Serving], Awaitable[float]],
        target: Target | None = None,
        *,
        rounds: int = _ROUNDS,
    ) -> Figure:
        ours, most = await medians(partial(measure, self.server), partial(measure, self.ceiling), rounds=rounds)
        return Figure(f"server: {name}", ours, PER_SECOND, Reference("ceiling", most), target)


async def requests() -> Sequence[Figure]:
    """Reads and creates over TLS, on kept connections."""
    async with _pair(PODS) as pair:
        name = f"{_PATH}/{_pod_name(0)}"
        get, listing = load.request("GET", name), load.request("GET", _PATH)
        return [
            await pair.compared(
                f"GET of a pod, {_AT_ONCE} at once",
                lambda serving: load.rate(serving, lambda: get, at_once=_AT_ONCE, seconds=_ROUND_SECONDS),
                share_of_at_least(50),
            ),
            await pair.compared(
                f"LIST of {PODS:,} pods, {_LISTS_AT_ONCE} at once",
                lambda serving: load.rate(serving, lambda: listing, at_once=_LISTS_AT_ONCE, seconds=_LIST_SECONDS),
                share_of_at_least(80),
                rounds=_FEW,
            ),
            await pair.compared(
                f"create of config maps, {_AT_ONCE} at once",
                lambda serving: load.rate(serving, _next_config_map, at_once=_AT_ONCE, seconds=_ROUND_SECONDS),
            ),
            Figure(f"server: create of pods, {_AT_ONCE} at once", pair.pods_per_second, PER_SECOND),
            Figure(
                "server: resident memory after these", pair.server.resident_megabytes(), MEGABYTES, target=at_most(500)
            ),
        ]


async def formats() -> Sequence[Figure]:
    """A pod and a page of pods in several formats, beside JSON and beside the ceiling."""
    pod, page = f"{_PATH}/{_pod_name(0)}", f"{_PATH}?limit={_PAGE}"
    asked = [(accept, path) for path in (pod, page) for accept in (JSON, PROTOBUF)]
    async with _pair(PODS, [*asked, (TABLE, page)]) as pair:
        found: list[Figure] = []
        for name, path, at_once, accepts in (
            ("GET of a pod", pod, _AT_ONCE, (JSON, PROTOBUF)),
            (f"page of {_PAGE} of {PODS:,} pods", page, _LISTS_AT_ONCE, (JSON, PROTOBUF, TABLE)),
        ):
            found += await _in_formats(pair, f"{name}, {at_once} at once", path, accepts, at_once=at_once)
        return found


async def _in_formats(pair: Pair, name: str, path: str, accepts: Sequence[str], *, at_once: int) -> Sequence[Figure]:
    """Each format beside the ceiling, and all but the first (JSON) beside the JSON of the same rounds."""

    def asking(accept: str, serving: Serving) -> Callable[[], Awaitable[float]]:
        message = load.request("GET", path, accept=accept)
        return lambda: load.rate(serving, lambda: message, at_once=at_once, seconds=_ROUND_SECONDS)

    measures = [asking(accept, serving) for accept in accepts for serving in (pair.server, pair.ceiling)]
    rates = await medians(*measures)
    ours = dict(zip(accepts, rates[::2], strict=True))
    most = dict(zip(accepts, rates[1::2], strict=True))

    def figure(accept: str, reference: Reference) -> Figure:
        return Figure(f"server: {name}, {_NAMES[accept]}", ours[accept], PER_SECOND, reference)

    return [
        *(figure(accept, Reference("ceiling", most[accept])) for accept in accepts),
        *(figure(accept, Reference("as JSON", ours[JSON])) for accept in accepts if accept != JSON),
    ]


async def pages() -> Sequence[Figure]:
    """A page of many objects beside a page of few: the cost depends on the page alone."""
    few, many = 1_000, STORED
    with ExitStack() as stack:
        server = stack.enter_context(processes.server(stack.enter_context(engines.directory())))
        for namespace, count in (("few", few), ("many", many)):
            await load.send_all(server, [_namespace(namespace)], at_once=1)
            await load.send_all(server, [_config_map(namespace, one) for one in range(count)], at_once=_AT_ONCE)

        def asking(path: str) -> Callable[[], Awaitable[float]]:
            message = load.request("GET", path)
            return lambda: load.rate(server, lambda: message, at_once=1, seconds=_ROUND_SECONDS)

        maps = "/api/v1/namespaces/{}/configmaps?{}"
        small, large, by_label = await medians(
            asking(maps.format("few", f"limit={_PAGE}")),
            asking(maps.format("many", f"limit={_PAGE}")),
            asking(maps.format("many", "labelSelector=group%3D7")),
        )
        return [
            Figure(
                f"server: page of {_PAGE} of {many:,} config maps",
                large,
                PER_SECOND,
                Reference(f"of {few:,}", small),
                share_of_at_least(80),
            ),
            Figure(f"server: 1 % of {many:,} config maps by label", by_label, PER_SECOND),
        ]


async def watch() -> Sequence[Figure]:
    """Deliveries of created objects to all watchers."""
    async with _pair(1) as pair:
        return [
            await pair.compared(
                "deliveries to 500 watchers",
                lambda serving: fan_out.deliveries_per_second(serving, watchers=500, objects=300),
                at_least(500_000),
                rounds=_FEW,
            )
        ]


@asynccontextmanager
async def _pair(count: int, asked: Iterable[tuple[str, str]] = ()) -> AsyncIterator[Pair]:
    """Both, with so many pods. The ceiling gets the responses to `asked`: pairs of Accept header and path."""
    with ExitStack() as stack:
        directory = stack.enter_context(engines.directory())
        server = stack.enter_context(processes.server(directory))
        rate = await load.send_all(server, [_pod(number) for number in range(count)], at_once=_AT_ONCE)
        pod, pods = [await load.body_of(server, path) for path in (f"{_PATH}/{_pod_name(0)}", _PATH)]
        others = {f"{accept} {path}": await load.body_of(server, path, accept=accept) for accept, path in asked}
        ceiling = stack.enter_context(processes.ceiling(directory, pod=pod, pods=pods, others=others))
        yield Pair(server, ceiling, rate)


_config_maps = itertools.count()


def _next_config_map() -> bytes:
    metadata = {"name": f"created-{next(_config_maps)}"}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "value" * 20}}
    return load.request("POST", "/api/v1/namespaces/default/configmaps", orjson.dumps(body))


def _namespace(name: str) -> bytes:
    return load.request("POST", "/api/v1/namespaces", orjson.dumps({"metadata": {"name": name}}))


def _config_map(namespace: str, number: int) -> bytes:
    """Each group label is on one of a hundred pods."""
    metadata = {"name": f"stored-{number:06}", "labels": {"group": str(number % 100)}}
    body = {"metadata": metadata, "data": {"key": "value" * 20}}
    return load.request("POST", f"/api/v1/namespaces/{namespace}/configmaps", orjson.dumps(body))


def _pod_name(number: int) -> str:
    return f"pod-{number:05}"


def _pod(number: int) -> bytes:
    variables = [{"name": f"VARIABLE_{one}", "value": "value" * 4} for one in range(6)]
    container = {"name": "main", "image": "registry.example.com/main:1.0", "env": variables}
    metadata = {"name": _pod_name(number), "labels": {"app": f"app-{number % 10}"}}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
    return load.request("POST", _PATH, orjson.dumps(body))
