"""python -m benchmarks.call_counts [--update]: compares the Python calls of the hottest requests with a ledger.

A call costs about a third of a microsecond in a running server, wherever it stands: the code of one request is too
much for the processor's caches. So the number of calls tells what a request costs, without noise.

What counts are calls of this project's functions on the server's thread, from the request to the end of its effects.
The ledger, call_counts.json, has the counts by minor version of Python, because comprehensions are calls before 3.12.
A minor without counts is not compared, and that is said. A count that is more than 10 % above the ledger fails. One
that is more than 10 % below is noted: --update writes the new counts, which belong to the commit that changes them.
"""

import asyncio
import http.client
import json
import statistics
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from aio_apiserver.testing import Server

LEDGER = Path(__file__).with_suffix(".json")
TOLERANCE = 0.1
_MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"
_WARM, _COUNTED = 20, 15
_TURNS = 20
"""Turns of the event loop after a request, in which the watch cache takes the event of its write."""
PAGE, _WATCHERS = 100, 100

PODS = "/api/v1/namespaces/default/pods"
_CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
_JSON = "application/json"
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_PROTOBUF = "application/vnd.kubernetes.protobuf"
_MERGE = "application/merge-patch+json"
_APPLY = "application/apply-patch+yaml"

Object = dict[str, Any]
Act = Callable[[int], object]
"""One request; its number makes each one a change."""


class Counter:
    """Counts the calls of this project's functions in the thread that it is installed in."""

    def __init__(self) -> None:
        self.calls = 0

    def hear(self, frame: types.FrameType, event: str, _argument: object) -> None:
        """What sys.setprofile calls."""
        if event == "call" and _is_ours(frame.f_code.co_filename):
            self.calls += 1


@cache
def _is_ours(path: str) -> bool:
    return "aio_apiserver" in path


class Client:
    """One connection to a server."""

    def __init__(self, server: Server) -> None:
        port = int(server.url.rpartition(":")[2])
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, context=server.tls, timeout=60)
        self.connection.connect()
        self._authorization = f"Bearer {server.admin_token}"

    def send(self, method: str, path: str, body: Object | None = None, **headers: str) -> http.client.HTTPResponse:
        """The answer, whose body is not read yet. Raises RuntimeError for errors.

        Head and body go out in one write, as Go's clients write them: two writes come together or apart by chance.
        """
        text = b"" if body is None else json.dumps(body).encode()
        lines = (
            f"{method} {path} HTTP/1.1",
            "Host: 127.0.0.1",
            f"Content-Type: {headers.get('content_type', _JSON)}",
            f"Accept: {headers.get('accept', _JSON)}",
            f"Authorization: {self._authorization}",
            *([f"Content-Length: {len(text)}"] if text else []),
        )
        self.connection.sock.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + text)
        response = http.client.HTTPResponse(self.connection.sock, method=method)
        response.begin()
        if response.status >= http.client.BAD_REQUEST:
            raise RuntimeError(f"{method} {path}: {response.read()!r}")
        return response

    def request(self, method: str, path: str, body: Object | None = None, **headers: str) -> bytes:
        """The body of the answer."""
        return self.send(method, path, body, **headers).read()


def pod(name: str, **labels: str) -> Object:
    container = {
        "name": "c",
        "image": "nginx:1.25",
        "ports": [{"containerPort": 80}],
        "env": [{"name": "A", "value": "b"}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
    }
    metadata = {"name": name, "labels": {"app": "bench", **labels}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def config_map(name: str, value: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": value}}


def acts(client: Client) -> Mapping[str, Act]:
    """The requests whose calls are counted, by name."""
    request = client.request
    present: Object = json.loads(request("POST", PODS, pod("present")))
    request("POST", _CONFIG_MAPS, config_map("present", ""))

    def update(number: int) -> None:
        """A PUT of what the last one has answered, with another label, as controllers do."""
        present["metadata"]["labels"]["number"] = f"n{number}"
        present.update(json.loads(request("PUT", f"{PODS}/present", present)))

    def apply(number: int) -> bytes:
        target = f"{PODS}/applied?fieldManager=bench&force=true"
        return request("PATCH", target, pod("applied", number=f"n{number}"), content_type=_APPLY)

    def merge(number: int) -> bytes:
        return request("PATCH", f"{_CONFIG_MAPS}/present", {"data": {"k": f"v{number}"}}, content_type=_MERGE)

    page = f"{PODS}?limit={PAGE}"
    return {
        "create config map": lambda number: request("POST", _CONFIG_MAPS, config_map(f"c{number}", "v")),
        "create pod": lambda number: request("POST", PODS, pod(f"p{number:05}")),
        "update pod": update,
        "merge patch": merge,
        "apply pod": apply,
        "GET pod": lambda _: request("GET", f"{PODS}/present"),
        "page of a list": lambda _: request("GET", page),
        "table page": lambda _: request("GET", page, accept=_TABLE),
        "protobuf page": lambda _: request("GET", page, accept=_PROTOBUF),
    }


@contextmanager
def watched(server: Server, client: Client) -> Iterator[Act]:
    """An event that a hundred watchers get: the creation of a config map."""
    watchers = [Client(server) for _ in range(_WATCHERS)]
    open_watches = [one.send("GET", f"{_CONFIG_MAPS}?watch=1&resourceVersion=0") for one in watchers]

    def announce(number: int) -> None:
        name = f"w{number:05}"
        client.request("POST", _CONFIG_MAPS, config_map(name, "v"))
        for response in open_watches:
            while name.encode() not in response.readline():
                pass

    yield announce
    for one in watchers:
        one.connection.close()


def count(server: Server, act: Act, of: Callable[[Iterable[int]], float] = statistics.median) -> int:
    """The calls of one act: the median of some, or what `of` takes, after the first ones have filled the caches."""
    for number in range(_WARM):
        act(number)
    return int(of(_calls(server, partial(act, _WARM + number)) for number in range(_COUNTED)))


def _calls(server: Server, act: Callable[[], object]) -> int:
    counter = Counter()
    on_its_loop(server, partial(sys.setprofile, counter.hear))
    act()
    on_its_loop(server, partial(sys.setprofile, None))
    return counter.calls


def on_its_loop(server: Server, work: Callable[[], None]) -> None:
    """Do something on the server's thread, when the effects of the requests before it are there."""

    async def settle() -> None:
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        work()

    assert server._background is not None
    server._background.call(settle())


def counted() -> Mapping[str, int]:
    """The calls of all acts."""
    with Server(testing=False) as server:
        client = Client(server)
        for number in range(PAGE):
            client.request("POST", PODS, pod(f"a{number:05}"))
        found = {name: count(server, act) for name, act in acts(client).items()}
        with watched(server, client) as announce:
            # The least: on a busy machine, the server writes to some watchers in another turn of its loop.
            found[f"one event to {_WATCHERS} watchers"] = count(server, announce, of=min)
        client.connection.close()
    return found


class Comparison(NamedTuple):
    """The counts beyond the tolerance, in words: those above the ledger, and those below."""

    above: list[str]
    below: list[str]


def compared(ledger: Mapping[str, int], counts: Mapping[str, int]) -> Comparison:
    """A request that only one side knows counts as above: the ledger has to have it, or not."""
    comparison = Comparison([], [])
    for name in {**ledger, **counts}:
        expected, calls = ledger.get(name, 0), counts.get(name, 0)
        text = f"{name}: {calls} calls, the ledger has {expected}"
        if not calls or calls - expected > TOLERANCE * expected:
            comparison.above.append(text)
        elif expected - calls > TOLERANCE * expected:
            comparison.below.append(text)
    return comparison


def main(arguments: list[str]) -> int:
    ledger: dict[str, dict[str, int]] = json.loads(LEDGER.read_text())
    if _MINOR not in ledger and "--update" not in arguments:
        print(f"call counts: not compared, the ledger has none for Python {_MINOR}")
        return 0
    counts = dict(counted())
    if "--update" in arguments:
        LEDGER.write_text(json.dumps({**ledger, _MINOR: counts}, indent=2) + "\n")
        return 0
    comparison = compared(ledger[_MINOR], counts)
    for text in (*comparison.above, *comparison.below):
        print(f"call counts: {text}", file=sys.stderr)
    if comparison.above or comparison.below:
        print("call counts: `python -m benchmarks.call_counts --update` writes the new ones", file=sys.stderr)
    if not comparison.above:
        print(f"call counts: none of {len(counts)} requests is more than {TOLERANCE:.0%} above the ledger")
    return 1 if comparison.above else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
