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

from benchmarks import engines, fan_out, filling, large_stores, load, processes
from benchmarks.figures import (
    MEGABYTES,
    MICROSECONDS,
    MILLISECONDS,
    PER_SECOND,
    Figure,
    Reference,
    Target,
    at_most,
    share_of_at_least,
)
from benchmarks.load import Sample
from benchmarks.processes import Serving
from benchmarks.rounds import medians

PODS = 18_000
_FEW_STORED, STORED = 1_000, 1_000_000
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
_LEASES = 1_000


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
        self, name: str, measure: Callable[[Serving], Awaitable[Sample]], target: Target, *, rounds: int = _ROUNDS
    ) -> Sequence[Figure]:
        """The rates beside each other, with the target, and the CPU times, which other programs change less."""
        times: dict[str, list[float]] = {self.server.name: [], self.ceiling.name: []}

        async def rate(serving: Serving) -> float:
            sample = await measure(serving)
            times[serving.name].append(1e6 * sample.cpu)
            return sample.rate

        ours, most = await medians(partial(rate, self.server), partial(rate, self.ceiling), rounds=rounds)
        cpu, least = (statistics.median(found) for found in times.values())
        return [
            Figure(f"server: {name}", ours, PER_SECOND, Reference("ceiling", most), target),
            Figure(f"server: {name}, CPU time of each", cpu, MICROSECONDS, Reference("ceiling", least)),
        ]


async def requests() -> Sequence[Figure]:
    """Reads over TLS, on kept connections."""
    async with _pair(PODS) as pair:
        get, listing = load.request("GET", f"{_PATH}/{_pod_name(0)}"), load.request("GET", _PATH)
        return [
            *await pair.compared(
                f"GET of a pod, {_AT_ONCE} at once",
                lambda serving: load.sample(serving, lambda: get, at_once=_AT_ONCE, seconds=_ROUND_SECONDS),
                share_of_at_least(75),
            ),
            *await pair.compared(
                f"LIST of {PODS:,} pods, {_LISTS_AT_ONCE} at once",
                lambda serving: load.sample(serving, lambda: listing, at_once=_LISTS_AT_ONCE, seconds=_LIST_SECONDS),
                share_of_at_least(90),
                rounds=_FEW,
            ),
            Figure(f"server: create of pods, {_AT_ONCE} at once", pair.pods_per_second, PER_SECOND),
            Figure(
                "server: resident memory after these", pair.server.resident_megabytes(), MEGABYTES, target=at_most(500)
            ),
        ]


async def renewals() -> Sequence[Figure]:
    """Renewals of leases, as all kubelets send them."""
    leases = [f"/apis/coordination.k8s.io/v1/namespaces/default/leases/node-{number}" for number in range(_LEASES)]
    numbers = itertools.count()

    def renewal() -> bytes:
        number = next(numbers)
        body = b'{"spec":{"renewTime":"2026-01-01T00:00:00.%06dZ"}}' % (number % 1_000_000)
        return load.request("PATCH", leases[number % _LEASES], body, content_type="application/merge-patch+json")

    with ExitStack() as stack:
        server = stack.enter_context(processes.server(stack.enter_context(engines.directory())))
        creations = [
            load.request("POST", path.rpartition("/")[0], orjson.dumps({"metadata": {"name": path.rpartition("/")[2]}}))
            for path in leases
        ]
        await load.send_all(server, creations, at_once=_AT_ONCE)
        renewed = await load.sample(server, renewal, at_once=_AT_ONCE, seconds=_LIST_SECONDS)
    return [Figure("server: renewal of a lease, CPU time", 1e6 * renewed.cpu, MICROSECONDS)]


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
    return [_page(count, await _sample_of_pages(count)) for count in (_FEW_STORED, STORED)]


def _page(count: int, page: Sample) -> Figure:
    return Figure(
        f"server: page of {_PAGE} of {count:,} config maps, CPU time", 1e3 * page.cpu, MILLISECONDS, target=at_most(3)
    )


async def _sample_of_pages(count: int) -> Sample:
    with engines.directory() as directory:
        key = "/registry/configmaps/default/model"
        await filling.fill(directory, large_stores.small_map(), key, count, large_stores.vary_map)
        with processes.server(directory) as server:
            await large_stores.size_of_first_list(server, large_stores.MAPS)
            message = load.request("GET", f"{large_stores.MAPS}?limit={_PAGE}")
            return await load.sample(server, lambda: message, at_once=1, seconds=_LIST_SECONDS)


async def watch() -> Sequence[Figure]:
    """Deliveries of created objects to all watchers."""
    async with _pair(1) as pair:
        found: list[Figure] = []
        for watchers, objects in ((100, 1_000), (500, 300)):
            found += await pair.compared(
                f"deliveries to {watchers} watchers",
                partial(fan_out.deliveries, watchers=watchers, objects=objects),
                share_of_at_least(70),
                rounds=_FEW,
            )
        return found


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


def _pod_name(number: int) -> str:
    return f"pod-{number:05}"


def _pod(number: int) -> bytes:
    variables = [{"name": f"VARIABLE_{one}", "value": "value" * 4} for one in range(6)]
    container = {"name": "main", "image": "registry.example.com/main:1.0", "env": variables}
    metadata = {"name": _pod_name(number), "labels": {"app": f"app-{number % 10}"}}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
    return load.request("POST", _PATH, orjson.dumps(body))
