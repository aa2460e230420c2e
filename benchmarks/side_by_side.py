"""side_by_side: the same load on several API servers in turns, and the ratios of their figures.

    KUBE_APISERVER=... ETCD_BIN=... scripts/bench side-by-side [--rounds=2] [--seconds=4] [--pods=18000] [NAME...]

It writes docs/performance.md with plots. With --work=TEXT it does the work whose names contain the text, prints the
figures, and writes nothing. Figures count as ratios of one run: the clients share the machine with the servers. Must
hold: every contestant gets the same requests, in turns.
"""

import argparse
import asyncio
import itertools
import statistics
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import orjson
import uvloop

from benchmarks import contestants, fan_out, load, performance_page
from benchmarks.load import Sample
from benchmarks.performance_page import Row
from benchmarks.processes import Serving

JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_FILLED = "/api/v1/namespaces/filled/pods"
_ONE = "/api/v1/namespaces/default/pods/p1"
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of one run."""

    rounds: int
    seconds: float
    pods: int


Work = Callable[[Serving, Scale], Awaitable[Sample]]


def _gets(path: str, *, at_once: int, accept: str = JSON) -> Work:
    message = load.request("GET", path, accept=accept)
    return lambda serving, scale: load.sample(serving, lambda: message, at_once=at_once, seconds=scale.seconds)


def _creates(resource: str, body: Callable[[], Mapping[str, object]]) -> Work:
    path = f"/api/v1/namespaces/default/{resource}"

    def make() -> bytes:
        return load.request("POST", path, orjson.dumps(body()))

    return lambda serving, scale: load.sample(serving, make, at_once=32, seconds=scale.seconds)


def _watches(watchers: int, objects: int, *, per_second: float = 0) -> Work:
    return lambda serving, _scale: fan_out.deliveries(
        serving, watchers=watchers, objects=objects, per_second=per_second
    )


def _config_map() -> Mapping[str, object]:
    metadata = {"name": f"created-{next(_numbers)}"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "value" * 20}}


def _pod() -> Mapping[str, object]:
    spec = {"containers": [{"name": "c", "image": "nginx"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"created-{next(_numbers)}"}, "spec": spec}


def _filling(number: int) -> Mapping[str, object]:
    container = {
        "name": "c",
        "image": "nginx:1.25",
        "ports": [{"containerPort": 80}],
        "env": [{"name": "A", "value": "b"}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
    }
    metadata = {"name": f"f-{number}", "labels": {"app": "bench", "tier": f"t{number % 10}"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


WORK: Mapping[str, Work] = {
    "GET a pod, JSON, 32 at once": _gets(_ONE, at_once=32),
    "GET a pod, protobuf, 32 at once": _gets(_ONE, at_once=32, accept=PROTOBUF),
    "create config maps, 32 at once": _creates("configmaps", _config_map),
    "create pods, 32 at once": _creates("pods", _pod),
    "watch, 100 watchers x 1,000 events": _watches(100, 1_000),
    "watch, 500 watchers x 300 events": _watches(500, 300),
    "watch, 100 watchers, 100 events/s": _watches(100, 200, per_second=100),
    "watch, 500 watchers, 100 events/s": _watches(500, 200, per_second=100),
}
"""Work on a server with few objects."""
LISTS: Mapping[str, Work] = {
    "LIST all pods, 4 at once": _gets(_FILLED, at_once=4),
    "LIST 10 % by label, 4 at once": _gets(f"{_FILLED}?labelSelector=tier%3Dt3", at_once=4),
    "LIST limit=500, 8 at once": _gets(f"{_FILLED}?limit=500", at_once=8),
    "LIST limit=500 as Table, 4 at once": _gets(f"{_FILLED}?limit=500", at_once=4, accept=TABLE),
    "LIST limit=500, protobuf, 4 at once": _gets(f"{_FILLED}?limit=500", at_once=4, accept=PROTOBUF),
}
"""Work on a server with many pods."""

Found = dict[str, dict[str, list[Sample]]]


async def measure(servers: Sequence[Serving], scale: Scale, wanted: str) -> Sequence[Row]:
    """The work whose names contain a text, on all servers. The first server is the reference."""
    work, lists = ({name: do for name, do in some.items() if wanted in name} for some in (WORK, LISTS))
    found: Found = defaultdict(lambda: defaultdict(list))
    idle = {serving.name: serving.resident_megabytes() for serving in servers}
    for serving in servers:
        await load.send_all(serving, [_named_pod()], at_once=1)
    await _in_turns(work, servers, scale, found)
    if lists:
        for serving in servers:
            await _fill(serving, scale.pods)
    await _in_turns(lists, servers, scale, found)
    after = {serving.name: serving.resident_megabytes() for serving in servers}
    return [
        *(
            Row(name, {one: _median(samples) for one, samples in by_server.items()})
            for name, by_server in found.items()
        ),
        Row("resident memory, idle", {name: _megabytes(value) for name, value in idle.items()}, unit="MB"),
        Row("resident memory after all that", {name: _megabytes(value) for name, value in after.items()}, unit="MB"),
    ]


async def _in_turns(work: Mapping[str, Work], servers: Sequence[Serving], scale: Scale, found: Found) -> None:
    for turn in range(scale.rounds):
        for name, do in work.items():
            for serving in servers if turn % 2 == 0 else reversed(servers):
                _progress(f"round {turn + 1} of {scale.rounds}: {name}: {serving.name}")
                found[name][serving.name].append(await do(serving, scale))


async def _fill(serving: Serving, pods: int) -> None:
    _progress(f"{pods:,} pods: {serving.name}")
    path = "/api/v1/namespaces"
    await load.send_all(serving, [load.request("POST", path, b'{"metadata":{"name":"filled"}}')], at_once=1)
    messages = [load.request("POST", _FILLED, orjson.dumps(_filling(number))) for number in range(pods)]
    await load.send_all(serving, messages, at_once=32)


def _named_pod() -> bytes:
    pod = {**_pod(), "metadata": {"name": "p1"}}
    return load.request("POST", "/api/v1/namespaces/default/pods", orjson.dumps(pod))


def _median(samples: Sequence[Sample]) -> Sample:
    return Sample(*(statistics.median(values) for values in zip(*samples, strict=True)))


def _megabytes(value: float) -> Sample:
    return Sample(value, 0, 0, 0)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench side-by-side")
    parser.add_argument("names", nargs="*", help="the contestants; all without names")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--pods", type=int, default=18_000)
    parser.add_argument("--work", default="", help="a part of the names of the work that is done")
    chosen = parser.parse_args(arguments)
    scale = Scale(chosen.rounds, chosen.seconds, chosen.pods)
    try:
        starts = contestants.named(chosen.names)
    except ValueError as exc:
        parser.error(str(exc))
    with (
        contestants.started(starts) as servers,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        rows = runner.run(measure(servers, scale, chosen.work))
    _progress("")
    print(f"{performance_page.table(rows)}\n\n{performance_page.latencies(rows)}")
    if not chosen.work:
        performance_page.write(rows, f"{scale.pods:,} pods, {scale.rounds} rounds of {scale.seconds:g} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
