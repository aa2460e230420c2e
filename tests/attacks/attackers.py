"""Attackers: what a hostile client does, in a process of its own with low priority.

    python -m tests.attacks.attackers NAME PORT CA TOKEN COUNT SECONDS

It prints one line about the connections and requests of the attack.
"""

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import uvloop
from aiohttp import ClientSession, TCPConnector

from tests.apiserver.program import trusting
from tests.attacks import hostile_servers
from tests.attacks.wires import Target, Wire, first_hello, many

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
_LONG = 120_000
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
_WRITERS = 8
_IN_ONE_GO = 2_000
"""The requests of a client that waits for no response."""


async def watchers(target: Target, count: int, seconds: float) -> str:
    """Watches whose clients do not read, and then objects of 300 KB and 900 KB."""
    head = target.head("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion=0")
    wires = await many(count, lambda _: target.open(head, limit=1))
    await asyncio.sleep(1)
    for size in (300_000, *[900_000] * 4):
        await _write(target, {"metadata": {"name": f"large-{size}"}, "data": {"text": "x" * size}})
    await asyncio.sleep(seconds)
    return _told(wires)


async def selections(target: Target, count: int, seconds: float) -> str:
    """The same with a selector of its own for each watch."""
    heads = [
        target.head("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion=0&labelSelector=key{number}!=x")
        for number in range(count)
    ]
    wires = await many(count, lambda number: target.open(heads[number], limit=1))
    await asyncio.sleep(1)
    await _write(target, {"metadata": {"name": "large"}, "data": {"text": "x" * 300_000}})
    await asyncio.sleep(seconds)
    return _told(wires)


async def starts(target: Target, count: int, seconds: float) -> str:
    """Watches that begin with the whole state, which their clients do not read."""
    head = target.head("GET", f"{CONFIG_MAPS}?watch=1")
    for number in range(20):
        await _write(target, {"metadata": {"name": f"large-{number}"}, "data": {"text": "x" * 900_000}})
    wires = await many(count, lambda _: target.open(head, limit=1))
    await asyncio.sleep(seconds)
    return _told(wires)


async def restarts(target: Target, count: int, seconds: float) -> str:
    """Watches that are begun and left, without pause."""
    until, statuses = time.monotonic() + seconds, Counter[int]()

    async def one() -> None:
        while time.monotonic() < until:
            wire = await target.open(target.head("GET", f"{CONFIG_MAPS}?watch=1"), limit=1)
            await wire.begun.wait()
            statuses[wire.status] += 1
            assert wire.transport is not None
            wire.transport.abort()

    await asyncio.gather(*(one() for _ in range(count)), return_exceptions=True)
    return f"statuses {dict(statuses)}"


async def slow(target: Target, count: int, seconds: float) -> str:
    """Connections without a TLS hello, without a request, with half a head, and with a body that does not come."""
    half = target.head("GET", "/api")[:-10]
    body = target.head("POST", CONFIG_MAPS, Content_Type="application/json", Content_Length=1000) + b"{"
    kinds: Sequence[tuple[bytes, bool]] = ((b"", False), (b"", True), (half, True), (body, True))

    async def make(number: int) -> Wire:
        sent, has_tls = kinds[number % len(kinds)]
        return await target.open(sent, has_tls=has_tls)

    wires = await many(count, make)
    await asyncio.sleep(seconds)
    return _told(wires)


async def lists(target: Target, count: int, seconds: float) -> str:
    """Long lists whose clients do not read."""
    for number in range(20):
        await _write(target, {"metadata": {"name": f"large-{number}"}, "data": {"text": "x" * 900_000}})
    wires = await many(count, lambda _: target.open(target.head("GET", CONFIG_MAPS), limit=1))
    await asyncio.sleep(seconds)
    return _told(wires)


async def selectors(target: Target, count: int, seconds: float) -> str:
    """Anonymous requests with a long fieldSelector."""
    terms = ",".join(f"a{number}=b" for number in range(_LONG // 9))
    return await _repeat(replace(target, token=""), [f"{CONFIG_MAPS}?fieldSelector={terms}"], count, seconds)


async def labels(target: Target, count: int, seconds: float) -> str:
    """Long labelSelectors of a user."""
    terms = ",".join(f"a{number}=b" for number in range(_LONG // 9))
    names = ",".join(f"v{number}" for number in range(_LONG // 9))
    paths = [f"{CONFIG_MAPS}?labelSelector={terms}", f"{CONFIG_MAPS}?labelSelector=a+in+({names})"]
    return await _repeat(target, paths, count, seconds)


async def documents(target: Target, count: int, seconds: float) -> str:
    """The largest documents of the server."""
    paths = ["/openapi/v2", "/openapi/v3", "/apis", "/metrics"]
    return await _repeat(target, paths, count, seconds)


async def yamls(target: Target, count: int, seconds: float) -> str:
    """Bodies of YAML near the limit."""
    lines = "".join(f"  key{number}: {'x' * 100}\n" for number in range(20_000))
    body = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n{lines}".encode()
    path = f"{CONFIG_MAPS}?dryRun=All"
    return await _repeat(target, [path], count, seconds, body=body, headers={"Content-Type": "application/yaml"})


async def pipelines(target: Target, count: int, seconds: float) -> str:
    """Requests in one go on each connection, whose responses of 300 KB their clients do not read."""
    await _write(target, {"metadata": {"name": "large"}, "data": {"text": "x" * 300_000}})
    sent = target.head("GET", f"{CONFIG_MAPS}/large") * _IN_ONE_GO
    wires = await many(count, lambda _: target.open(sent, limit=1))
    await asyncio.sleep(seconds)
    return _told(wires)


async def halves(target: Target, count: int, seconds: float) -> str:
    """Bodies of 3 MB that lack their last byte."""
    body = orjson.dumps({"metadata": {"name": "half"}, "data": {"text": "x" * 3_000_000}})
    head = target.head("POST", f"{CONFIG_MAPS}?dryRun=All", Content_Type="application/json", Content_Length=len(body))
    wires = await many(count, lambda _: target.open(head + body[:-1]))
    await asyncio.sleep(seconds)
    return _told(wires)


async def containers(target: Target, count: int, seconds: float) -> str:
    """Pods of 130,000 empty containers."""
    body = orjson.dumps({"metadata": {"name": "wide"}, "spec": {"containers": [{}] * 130_000}})
    path = "/api/v1/namespaces/default/pods?dryRun=All"
    return await _repeat(target, [path], count, seconds, body=body, headers={"Content-Type": "application/json"})


async def tables(target: Target, count: int, seconds: float) -> str:
    """Tables of 81 secrets of 1 MB, with and without the objects."""
    secrets = "/api/v1/namespaces/default/secrets"
    paths = [secrets, f"{secrets}?includeObject=Object", f"{secrets}?limit=500&includeObject=Object"]
    return await _repeat(target, paths, count, seconds, headers={"Accept": _TABLE})


async def rewrites(target: Target, count: int, seconds: float) -> str:
    """So many updates of a few objects to other 740 KB. Its duration is what the server needs."""
    statuses, numbers = Counter[int](), iter(range(count))
    tls = trusting(target.ca.parent.parent)
    headers = {"Authorization": f"Bearer {target.token}"}
    began = time.monotonic()
    async with ClientSession(connector=TCPConnector(ssl=tls, limit=0), headers=headers) as session:

        async def one(name: str) -> None:
            url = f"https://127.0.0.1:{target.port}{CONFIG_MAPS}"
            async with session.post(url, json={"metadata": {"name": name}}) as answer:
                statuses[answer.status] += 1
            for number in numbers:
                body = {"metadata": {"name": name}, "data": {"text": f"{number:09}" * 82_000}}
                async with session.put(f"{url}/{name}", json=body) as answer:
                    await answer.read()
                    statuses[answer.status] += 1

        await asyncio.gather(*(one(f"rewritten-{number}") for number in range(_WRITERS)))
    await asyncio.sleep(min(seconds, 1))
    return f"{count} writes in {time.monotonic() - began:.0f} s, statuses {dict(statuses)}"


async def handshakes(target: Target, count: int, seconds: float) -> str:
    """TLS handshakes without pause, each on a new connection that is closed then."""
    until, done = time.monotonic() + seconds, Counter[str]()
    tls = trusting(target.ca.parent.parent)

    async def repeat(_: int) -> None:
        while time.monotonic() < until:
            try:
                transport, _protocol = await asyncio.get_running_loop().create_connection(
                    asyncio.Protocol, "127.0.0.1", target.port, ssl=tls, server_hostname="localhost"
                )
                transport.abort()
                done["done"] += 1
            except OSError:
                done["refused"] += 1

    await asyncio.gather(*map(repeat, range(count)))
    return f"handshakes {dict(done)}"


async def hellos(target: Target, count: int, seconds: float) -> str:
    """The first half of a TLS hello on many connections, and the second half on all of them at once."""
    until, hello = time.monotonic() + seconds, first_hello()
    rounds, answers = 0, Counter[bool]()
    while time.monotonic() < until:
        wires = await many(count, lambda _: target.open(hello[:50], has_tls=False))
        await asyncio.sleep(0.2)
        for wire in wires:
            if not wire.closed.is_set() and wire.transport is not None:
                wire.transport.write(hello[50:])
        await asyncio.sleep(0.5)
        for wire in wires:
            answers[wire.came > 0] += 1
            assert wire.transport is not None
            wire.transport.abort()
        rounds += 1
    return f"{rounds} rounds of {count}, {answers[True]} answered, {answers[False]} not"


async def records(target: Target, count: int, seconds: float) -> str:
    """TLS records of one byte each, without pause: the body of a request."""
    until, sent = time.monotonic() + seconds, 0
    head = target.head("POST", CONFIG_MAPS, Content_Type="application/json", Content_Length=3_000_000)
    wires = await many(count, lambda _: target.open(head))
    while time.monotonic() < until:
        for wire in wires:
            if wire.transport is not None and not wire.transport.is_closing():
                for _ in range(1_000 * (wire.transport.get_write_buffer_size() < _LONG)):
                    wire.transport.write(b" ")
                    sent += 1
        await asyncio.sleep(0)
    return f"{sent} records; {_told(wires)}"


async def overload(target: Target, count: int, seconds: float) -> str:
    """Lists of all pods on each connection, without pause but for the Retry-After of a 429."""
    until, statuses, lacking = time.monotonic() + seconds, Counter[int](), Counter[int]()
    tls = trusting(target.ca.parent.parent)
    headers = {"Authorization": f"Bearer {target.token}"}
    async with ClientSession(connector=TCPConnector(ssl=tls, limit=0), headers=headers) as session:

        async def one(_: int) -> None:
            while time.monotonic() < until:
                try:
                    async with session.get(f"https://127.0.0.1:{target.port}/api/v1/pods") as answer:
                        async for _piece in answer.content.iter_chunked(1 << 18):
                            pass
                        statuses[answer.status] += 1
                        lacking[answer.status] += answer.status == 429 and "Retry-After" not in answer.headers
                        await asyncio.sleep(float(answer.headers.get("Retry-After", 0)))
                except OSError:
                    statuses[0] += 1

        ending = asyncio.gather(*map(one, range(count)))
        await asyncio.wait([ending], timeout=seconds)
        ending.cancel()
    return f"statuses {dict(statuses)}, {sum(lacking.values())} of 429 without Retry-After"


async def paths(target: Target, count: int, seconds: float) -> str:
    """Anonymous requests for paths of 120 kB."""
    return await _repeat(replace(target, token=""), [f"/{'x' * _LONG}", f"{CONFIG_MAPS}/{'x' * _LONG}"], count, seconds)


async def timelines(target: Target, count: int, seconds: float) -> str:
    """The timeline of the console, with changes of a large object."""
    return await _repeat(target, ["/ui/api/timeline"], count, seconds)


async def reports(target: Target, count: int, seconds: float) -> str:
    """Reports of the console, with many secrets that share letters."""
    return await _repeat(target, ["/ui/api/report"], count, seconds)


ATTACKS: Mapping[str, Callable[[Target, int, float], Awaitable[str]]] = {
    attack.__name__: attack
    for attack in (
        *(watchers, selections, starts, restarts, slow, lists, selectors, labels, documents, yamls, pipelines),
        *(halves, containers, tables, overload, rewrites, handshakes, hellos, records, paths, timelines, reports),
    )
} | {
    "answers": hostile_servers.attack_as_aggregated_server,
    "logs": hostile_servers.attack_as_kubelet,
}


async def _write(target: Target, obj: object) -> None:
    """Create an object, or replace it."""
    body = orjson.dumps(obj)
    head = target.head("POST", CONFIG_MAPS, Content_Type="application/json", Content_Length=len(body))
    wire = await target.open(head + body)
    await wire.begun.wait()
    assert wire.transport is not None
    wire.transport.abort()


async def _repeat(
    target: Target,
    paths: Sequence[str],
    count: int,
    seconds: float,
    *,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
) -> str:
    """The same requests on many connections, without pause."""
    until, statuses = time.monotonic() + seconds, Counter[int]()
    sent = {**(headers or {}), **({"Authorization": f"Bearer {target.token}"} if target.token else {})}
    tls = trusting(target.ca.parent.parent)
    async with ClientSession(connector=TCPConnector(ssl=tls, limit=0), headers=sent, max_line_size=1 << 17) as session:

        async def one(number: int) -> None:
            while time.monotonic() < until:
                path = paths[number % len(paths)]
                async with session.request(
                    "POST" if body else "GET", f"https://127.0.0.1:{target.port}{path}", data=body or None
                ) as answer:
                    async for _ in answer.content.iter_chunked(1 << 16):
                        pass
                    statuses[answer.status] += 1
                number += 1

        await asyncio.gather(*map(one, range(count)))
    return f"{sum(statuses.values())} requests, statuses {dict(statuses)}"


def _told(wires: Sequence[Wire]) -> str:
    statuses = Counter(wire.status for wire in wires)
    closed = sum(wire.closed.is_set() for wire in wires)
    return f"{len(wires)} connections, statuses {dict(statuses)}, {closed} closed by the server"


def main(words: Sequence[str]) -> None:
    name, port, ca, token, count, seconds = words
    os.nice(10)
    target = Target(int(port), Path(ca), token)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sys.stdout.write(runner.run(_attack(name, target, int(count), float(seconds))))
    sys.stdout.flush()
    os._exit(0)  # thousands of connections break at once


async def _attack(name: str, target: Target, count: int, seconds: float) -> str:
    return await ATTACKS[name](target, count, seconds)


if __name__ == "__main__":
    main(sys.argv[1:])
