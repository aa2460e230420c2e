"""Commands and ports of simulated pods that this machine serves."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp
import orjson
import pytest

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.controllers.runtime import places
from tests.apiserver import serving
from tests.controllers import clusters

_POD = "/api/v1/namespaces/default/pods/here"
_PROTOCOLS = ("v5.channel.k8s.io",)


@pytest.fixture
async def admin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of a server with a pod that has local processes."""
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "x")
    names, flags = ("serviceaccount-controller",), {"simulate": True, "simulate_local_processes": True}
    async with clusters.running(tmp_path, *names, **flags) as cluster:
        await cluster.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        container = {"name": "main", "image": "nginx", "env": [{"name": "COLOUR", "value": "blue"}]}
        pod = {"metadata": {"name": "here"}, "spec": {"containers": [{**container, "workingDir": str(tmp_path)}]}}
        await cluster.client.create(places.PODS, pod, namespace="default")
        await cluster.until(
            places.PODS, lambda items: items["default/here"].get("status", {}).get("phase") == "Running"
        )
        tls = aiohttp.TCPConnector(ssl=serving.as_admin(cluster.server))
        async with aiohttp.ClientSession(cluster.server.url, connector=tls) as session:
            yield session


def _opened(admin: aiohttp.ClientSession, *command: str, **flags: int) -> Any:
    query = urlencode({"command": command, "stdout": 1, "stdin": 1, **flags}, doseq=True)
    return admin.ws_connect(f"{_POD}/exec?{query}", protocols=_PROTOCOLS)


async def _exec(admin: aiohttp.ClientSession, *command: str, stdin: bytes = b"") -> tuple[bytes, bytes, Any]:
    output: dict[int, bytes] = {}
    async with _opened(admin, *command, stderr=1) as socket:
        await socket.send_bytes(b"\x00" + stdin)
        await socket.send_bytes(b"\xff\x00")
        async for message in socket:
            output[message.data[0]] = output.get(message.data[0], b"") + message.data[1:]
    status = orjson.loads(output[3])
    code = status["details"]["causes"][0]["message"] if status["status"] == "Failure" else "0"
    return output.get(1, b""), output.get(2, b""), code


async def test_commands_run_as_processes_of_this_machine(admin: aiohttp.ClientSession, tmp_path: Path) -> None:
    script = "cat; pwd; echo $COLOUR $SECRET_OF_THE_SERVER; echo oops >&2; exit 3"

    assert await _exec(admin, "sh", "-c", script, stdin=b"given\n") == (
        f"given\n{tmp_path}\nblue\n".encode(),
        b"oops\n",
        "3",
    )
    assert await _exec(admin, "sh", "-c", "kill -9 $$") == (b"", b"", "137")
    assert await _exec(admin, "no-such-program") == (b"", b"exec: no-such-program: No such file or directory\n", "127")


async def test_a_process_has_a_terminal_with_the_size_of_the_clients(admin: aiohttp.ClientSession) -> None:
    output = b""
    async with _opened(admin, "sh", "-c", "read x; stty size; exit 4", tty=1) as socket:
        await socket.send_bytes(b"\x04" + orjson.dumps({"Width": 91, "Height": 33}))
        await socket.send_bytes(b"\x00go\r")
        async for message in socket:
            output += message.data[1:]

    assert b"go\r\n33 91\r\n" in output
    assert b'"message":"4"' in output


async def test_a_process_ends_when_its_client_goes(admin: aiohttp.ClientSession) -> None:
    async with _opened(admin, "sh", "-c", "sleep 1000 & echo $! $$; wait") as socket:
        numbers: list[bytes] = []
        while not numbers:
            numbers = (await socket.receive()).data[1:].split()

    await asyncio.gather(*(_ended(int(number)) for number in numbers))


async def _ended(number: int) -> None:
    """Wait until a process has ended."""
    try:
        descriptor = os.pidfd_open(number)
    except ProcessLookupError:
        return
    has_ended, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(descriptor, has_ended.set)
    await has_ended.wait()
    loop.remove_reader(descriptor)
    os.close(descriptor)


async def test_forwarded_ports_reach_ports_of_this_machine(admin: aiohttp.ClientSession) -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readline()).upper())
        writer.close()

    received: dict[int, bytes] = {}
    async with await asyncio.start_server(shout, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with admin.ws_connect(f"{_POD}/portforward?ports={port},1", protocols=("v4.channel.k8s.io",)) as socket:
            await socket.send_bytes(b"\x00hello\n")
            while len(received.get(0, b"")) < 8 or len(received.get(3, b"")) < 3:
                message = await socket.receive()
                received[message.data[0]] = received.get(message.data[0], b"") + message.data[1:]

    assert received[0][2:] == b"HELLO\n"
    assert received[3][2:] == b"dial tcp 127.0.0.1:1: connect: connection refused"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({}, "--simulate-local-processes needs --simulate"),
        ({"simulate": True, "bind_address": "0.0.0.0"}, "needs --bind-address=127.0.0.1"),  # noqa: S104
    ],
)
def test_local_processes_need_a_simulated_cluster_on_loopback(flags: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(simulate_local_processes=True, **flags)
