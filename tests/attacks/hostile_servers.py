"""Hostile servers: an aggregated server and a kubelet of an attacker, who may register them.

They answer with the table of hostile_answers.py. Must hold: they listen on loopback alone.
"""

import asyncio
import ssl
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import ClientSession, TCPConnector

from tests.apiserver.program import trusting
from tests.attacks import hostile_answers
from tests.attacks.wires import Target
from tests.storage.kv.certificates import Authority

GROUP = "hostile.example.com"
_ROOT = f"/apis/{GROUP}/v1"
_NAMES = list(hostile_answers.ALL)
_MOST_READ = 1 << 20
_RESOURCES = (
    b'{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "hostile.example.com/v1", "resources": []}'
)
_KUBELET = {
    "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
    "conditions": [{"type": "Ready", "status": "True"}],
}
_NAMESPACE = "/api/v1/namespaces/default"


async def attack_as_aggregated_server(target: Target, count: int, seconds: float) -> str:
    """Each client asks for all answers, one after the other."""
    paths = [f"{_ROOT}/{number}" for number in range(len(_NAMES))]
    port = await _hostile_server()
    async with _session(target) as session:
        spec = {"type": "ExternalName", "externalName": "localhost"}
        await _create(session, target, f"{_NAMESPACE}/services", {"metadata": {"name": "hostile"}, "spec": spec})
        await _create(session, target, "/apis/apiregistration.k8s.io/v1/apiservices", _registration(port))
        while await _status(session, target, _ROOT) != 200:  # noqa: ASYNC110 the server looks when it likes
            await asyncio.sleep(0.1)
        return await _ask(session, target, paths, count, seconds)


async def attack_as_kubelet(target: Target, count: int, seconds: float) -> str:
    """Each client follows logs that do not end; every second one does not read them."""
    port = await _hostile_server()
    async with _session(target) as session:
        endpoint = {"daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}
        await _create(session, target, "/api/v1/nodes", {"metadata": {"name": "hostile"}})
        await _patch(session, target, "/api/v1/nodes/hostile/status", {"status": {**_KUBELET, **endpoint}})
        paths = []
        for name in hostile_answers.ENDLESS_BODIES:
            container = f"c{_NAMES.index(name)}"
            spec = {"nodeName": "hostile", "containers": [{"name": container, "image": "i"}]}
            pod = {"metadata": {"name": container}, "spec": {**spec, "automountServiceAccountToken": False}}
            await _create(session, target, f"{_NAMESPACE}/pods", pod)
            paths.append(f"{_NAMESPACE}/pods/{container}/log?follow=true")
        head = [target.head("GET", path) for path in paths]
        idle = [await target.open(head[number % len(head)], limit=1) for number in range(count // 2)]
        told = await _ask(session, target, paths, count - len(idle), seconds)
        return f"{told}; {len(idle)} that do not read, {sum(wire.closed.is_set() for wire in idle)} of them closed"


async def _hostile_server() -> int:
    """The port of a server that answers as the last number of the path says. It ends with the process."""
    with tempfile.TemporaryDirectory() as directory:
        files = Authority(Path(directory)).issue("hostile", ("localhost",))
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(files.certificate, files.key)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(), _serve), "127.0.0.1", 0, ssl=tls
    )
    port: int = server.sockets[0].getsockname()[1]
    return port


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, EOFError):
        await _answer(reader, writer)
    writer.close()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    last = head.split(b" ")[1].partition(b"?")[0].rpartition(b"/")[2].removeprefix(b"c").decode()
    if last.isdigit():
        await hostile_answers.ALL[_NAMES[int(last)]].answer(reader, writer)
    else:
        kind = b"Content-Type: application/json"
        writer.write(b"HTTP/1.1 200 OK\r\n%b\r\nContent-Length: %d\r\n\r\n%b" % (kind, len(_RESOURCES), _RESOURCES))
        await writer.drain()


def _registration(port: int) -> Any:
    service = {"namespace": "default", "name": "hostile", "port": port}
    spec = {"group": GROUP, "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1, "service": service}
    return {"metadata": {"name": f"v1.{GROUP}"}, "spec": {**spec, "insecureSkipTLSVerify": True}}


def _session(target: Target) -> ClientSession:
    connector = TCPConnector(ssl=trusting(target.ca.parent.parent), limit=0)
    return ClientSession(connector=connector, headers={"Authorization": f"Bearer {target.token}"})


def _url(target: Target, path: str) -> str:
    return f"https://127.0.0.1:{target.port}{path}"


async def _create(session: ClientSession, target: Target, path: str, obj: Any) -> None:
    async with session.post(_url(target, path), json=obj) as answer:
        assert answer.status == 201, await answer.text()


async def _patch(session: ClientSession, target: Target, path: str, obj: Any) -> None:
    headers = {"Content-Type": "application/merge-patch+json"}
    async with session.patch(_url(target, path), json=obj, headers=headers) as answer:
        assert answer.status == 200, await answer.text()


async def _status(session: ClientSession, target: Target, path: str) -> int:
    async with session.get(_url(target, path)) as answer:
        return answer.status


async def _ask(session: ClientSession, target: Target, paths: Sequence[str], count: int, seconds: float) -> str:
    """The same requests on many connections, without pause. Of each answer a megabyte is read."""
    until, statuses = time.monotonic() + seconds, Counter[int]()

    async def repeat(number: int) -> None:
        while time.monotonic() < until:
            with suppress(aiohttp.ClientError, TimeoutError):
                async with asyncio.timeout(until - time.monotonic()):
                    statuses[await _one(session, _url(target, paths[number % len(paths)]))] += 1
            number += 1

    await asyncio.gather(*map(repeat, range(count)))
    return f"{sum(statuses.values())} answers, statuses {dict(statuses)}"


async def _one(session: ClientSession, url: str) -> int:
    read = 0
    async with session.get(url) as answer:
        with suppress(aiohttp.ClientPayloadError):
            async for piece in answer.content.iter_any():
                read += len(piece)
                if read > _MOST_READ:
                    break
        return answer.status
