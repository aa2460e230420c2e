"""Commands and ports of simulated pods that this machine serves."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp
import orjson
import pytest

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.controllers.runtime import resources as places
from tests.apiserver import serving
from tests.controllers import clusters
from tests.simulation.processes.ends import wait_until_ended
from tests.stream_servers import talking

_PODS = "/api/v1/namespaces/default/pods"
_POD = f"{_PODS}/here"
_PROTOCOLS = ("v5.channel.k8s.io",)


@pytest.fixture
async def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[clusters.Cluster]:
    """A server with a pod that has local processes."""
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "x")
    names, flags = ("serviceaccount-controller",), {"simulate": True, "simulate_local_processes": True}
    async with clusters.running(tmp_path, *names, **flags) as made:
        await made.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        container = {"name": "main", "image": "nginx", "env": [{"name": "COLOUR", "value": "blue"}]}
        await _start(made, "here", {**container, "workingDir": str(tmp_path)})
        yield made


async def _start(cluster: clusters.Cluster, name: str, container: dict[str, Any]) -> None:
    pod = {"metadata": {"name": name}, "spec": {"containers": [container]}}
    await cluster.client.create(places.PODS, pod, namespace="default")

    def runs(items: dict[str, Any]) -> bool:
        return bool(items.get(f"default/{name}", {}).get("status", {}).get("phase") == "Running")

    await cluster.until(places.PODS, runs)


@pytest.fixture
async def admin(cluster: clusters.Cluster) -> AsyncIterator[aiohttp.ClientSession]:
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
        for wrong in (b"oops", b"[]", b'{"Width": 91}', b'{"Width": 1, "Height": 70000}'):
            await socket.send_bytes(b"\x04" + wrong)
        await socket.send_bytes(b"\x04" + orjson.dumps({"Width": 91, "Height": 33}))
        await socket.send_bytes(b"\x00go\r")
        async for message in socket:
            output += message.data[1:]

    assert b"go\r\n33 91\r\n" in output
    assert b'"message":"4"' in output


async def test_a_program_in_a_terminal_has_the_usual_signals_and_no_variable_of_python(
    admin: aiohttp.ClientSession,
) -> None:
    output = b""
    async with _opened(admin, "sh", "-c", "grep SigIgn /proc/self/status; env", tty=1) as socket:
        async for message in socket:
            output += message.data[1:]

    found = re.search(rb"SigIgn:\t([0-9a-f]{16})", output)
    assert found is not None
    # The C library ignores signals of its own in programs that posix_spawn starts.
    assert [one for one in signal.valid_signals() if int(found[1], 16) >> (one - 1) & 1] == []
    assert b"LC_CTYPE" not in output


async def test_a_command_ends_although_another_session_holds_its_output(
    admin: aiohttp.ClientSession, tmp_path: Path
) -> None:
    alive = "setsid sh -c 'echo $$ > alive; exec sleep 1000' & while [ ! -s alive ]; do sleep 0.01; done; echo left"

    assert await _exec(admin, "sh", "-c", alive) == (b"left\n", b"", "0")
    output = b""
    async with _opened(admin, "sh", "-c", alive.replace("alive", "second"), tty=1) as socket:
        async for message in socket:
            output += message.data[1:]
    assert output.startswith(b"left\r\n")

    for name in ("alive", "second"):
        os.kill(int((tmp_path / name).read_text()), signal.SIGKILL)


async def test_all_process_groups_of_a_command_end_with_it(admin: aiohttp.ClientSession) -> None:
    group = "import subprocess; print(subprocess.Popen(['sleep', '1000'], process_group=0).pid)"

    output, _, code = await _exec(admin, sys.executable, "-c", group)

    assert code == "0"
    await wait_until_ended(int(output))


async def test_a_command_that_cannot_start_is_told(admin: aiohttp.ClientSession, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")

    assert await _exec(admin, "./data") == (b"", b"exec: ./data: Permission denied\n", "126")
    assert await _exec(admin, "a\0b") == (b"", b"exec: a\0b: embedded null byte\n", "126")
    output = b""
    async with _opened(admin, "a\0b", tty=1) as socket:
        async for message in socket:
            output += message.data[1:]
    assert output.startswith(b"exec: a\0b: embedded null byte\n")
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await admin.ws_connect(f"{_POD}/exec?stdout=1", protocols=_PROTOCOLS)
    assert refused.value.status == 400


async def test_attach_starts_the_command_of_a_container_that_reads_input(
    cluster: clusters.Cluster, admin: aiohttp.ClientSession, tmp_path: Path
) -> None:
    script = f"echo > {tmp_path}/begun; echo begun; sleep 1000"
    await _start(cluster, "open", {"name": "main", "image": "busybox", "command": ["sh", "-c", script], "stdin": True})
    before = os.listdir(tmp_path)  # noqa: PTH208 (a test waits for no disk)

    async with admin.ws_connect(f"{_PODS}/open/attach?stdout=1&stdin=1", protocols=_PROTOCOLS) as socket:
        output = b""
        while b"begun" not in output:
            output += (await socket.receive()).data[1:]

    assert "begun" not in before
    assert "begun" in os.listdir(tmp_path)  # noqa: PTH208


async def test_a_process_ends_when_its_client_goes(admin: aiohttp.ClientSession) -> None:
    async with _opened(admin, "sh", "-c", "sleep 1000 & echo $! $$; wait") as socket:
        numbers: list[bytes] = []
        while not numbers:
            numbers = (await socket.receive()).data[1:].split()
        for _ in range(200):
            await socket.send_bytes(b"\x00k")

    await asyncio.gather(*(wait_until_ended(int(number)) for number in numbers))


async def test_forwarded_ports_reach_ports_of_this_machine(admin: aiohttp.ClientSession) -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readline()).upper())

    received: dict[int, bytes] = {}
    async with (
        talking(shout) as port,
        admin.ws_connect(f"{_POD}/portforward?ports={port},1", protocols=("v4.channel.k8s.io",)) as socket,
    ):
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
