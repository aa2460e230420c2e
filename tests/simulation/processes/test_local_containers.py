"""Containers that run as processes of this machine."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.processes.local_containers import LocalContainers
from aio_apiserver.simulation.processes.process_log import ProcessLog
from aio_apiserver.simulation.processes.runtime_words import NotCreated
from tests.controllers.making import obj
from tests.simulation.processes.ends import wait_until_ended

_POD: Object = {**obj("p"), "spec": {}}
_SERVER = """
import asyncio, sys
from aio_apiserver.simulation.processes.local_containers import LocalContainers
from aio_apiserver.base.clock import SystemClock
class Sources:
    async def variables(self, pod, container): return {}
    async def mounted(self, pod, container): return {}
async def serve():
    local = LocalContainers(Sources(), SystemClock())
    pod = {"metadata": {"uid": "u", "name": "p", "namespace": "default"}, "spec": {}}
    command = ["sh", "-c", "sleep 1000 & setsid sh -c 'echo $$; exec sleep 1000' & echo $! $$; pwd; wait"]
    await local.start(pod, {"name": "main", "command": command}, 0, print)
    async for piece in local.log("u", "main", 0).pieces(follows=True):
        sys.stdout.write(piece.data.decode())
        sys.stdout.flush()
asyncio.run(serve())
"""


class _Local:
    """Local containers, and the exit codes of those that have ended."""

    def __init__(self) -> None:
        self.containers = LocalContainers(self, SystemClock())
        self.codes: asyncio.Queue[int] = asyncio.Queue()
        self.pod = _POD
        self.files: Mapping[str, bytes] = {}

    async def variables(self, _pod: Object, container: Object) -> Mapping[str, str]:
        return {one["name"]: one["value"] for one in container.get("env") or ()}

    async def mounted(self, _pod: Object, _container: Object) -> Mapping[str, bytes]:
        return self.files

    async def start(self, *command: str, number: int = 0, **more: Any) -> None:
        container = {"name": "main", "command": list(command), **more}
        await self.containers.start(self.pod, container, number, self.codes.put_nowait)

    def log(self, number: int = 0) -> ProcessLog:
        found = self.containers.log("p", "main", number)
        assert found is not None
        return found

    async def output(self, number: int = 0) -> dict[int, bytes]:
        """The whole output of a run by channel."""
        found: dict[int, bytes] = {}
        async for piece in self.log(number).pieces(follows=True):
            found[piece.channel] = found.get(piece.channel, b"") + piece.data
        return found


@pytest.fixture
async def local() -> AsyncIterator[_Local]:
    made = _Local()
    yield made
    await made.containers.close()


async def test_a_command_runs_with_its_environment_in_a_directory_of_its_own(
    local: _Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "x")
    script = 'echo "$1" $COLOUR$SECRET_OF_THE_SERVER; [ "$(pwd)" = "$HOME" ] && ls; printf oops >&2; exit 3'

    await local.start("sh", "-c", script, "sh", "$(COLOUR) $(NONE)", env=[{"name": "COLOUR", "value": "blue"}])

    assert await local.codes.get() == 3
    assert await local.output() == {1: b"blue $(NONE) blue\n", 2: b"oops"}


async def test_the_files_of_volumes_are_below_the_directory_and_arguments_name_them_there(local: _Local) -> None:
    local.pod = {**_POD, "spec": {"volumes": [{"name": "data", "emptyDir": {}}, {"name": "conf"}]}}
    local.files = {"/etc/app/conf": b"blue", "/../../outside": b"no"}
    mounts = [{"name": "data", "mountPath": "/data"}, {"name": "conf", "mountPath": "/etc/app"}]
    env = [{"name": "CONF", "value": "/etc/app/conf:/etc/application"}]

    for number, script in enumerate(("cp /etc/app/conf /data/kept; echo $CONF; ls", "cat '/data/kept' data/kept")):
        await local.start("sh", "-c", script, number=number, env=env, volumeMounts=mounts)
        await local.codes.get()

    conf, *names = (await local.output())[1].decode().split()
    assert conf.endswith("/main-0/etc/app/conf:/etc/application")
    assert names == ["data", "etc", "outside"]
    assert await local.output(1) == {1: b"blueblue"}


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("no-such-program", 'exec: "no-such-program": executable file not found in $PATH'),
        ("/no/such/program", 'exec: "/no/such/program": stat /no/such/program: no such file or directory'),
        ("/etc/passwd", 'exec: "/etc/passwd": permission denied'),
    ],
)
async def test_a_program_that_does_not_exist_is_reported_as_by_a_container_runtime(
    local: _Local, program: str, why: str
) -> None:
    with pytest.raises(NotCreated) as failed:
        await local.start(program)

    assert str(failed.value).endswith(f"unable to start container process: error during container init: {why}")


async def test_a_stopped_container_gets_sigterm_and_later_sigkill(local: _Local) -> None:
    loop = "echo ready; while :; do sleep 0.01; done"
    await local.start("sh", "-c", f"trap 'exit 4' TERM; {loop}")
    await _first_line(local)

    local.containers.stop("p", 1000.0)
    first = await local.codes.get()
    await local.start("sh", "-c", f"trap '' TERM; {loop}", number=1)
    await _first_line(local, 1)
    local.containers.stop("p", 1000.0)
    local.containers.stop("p", 0.0)

    assert (first, await local.codes.get()) == (4, 137)


async def _first_line(local: _Local, number: int = 0) -> bytes:
    async for piece in local.log(number).pieces(follows=True):
        return piece.data
    return b""


async def test_a_new_run_has_new_files_and_the_last_two_logs_stay(local: _Local) -> None:
    for number in range(3):
        await local.start("sh", "-c", f"ls; touch made; echo {number}", number=number)
        await local.codes.get()

    assert [(await local.output(number))[1] for number in (1, 2)] == [b"1\n", b"2\n"]
    assert local.containers.log("p", "main", 0) is None


async def test_nothing_is_left_of_a_closed_server(local: _Local) -> None:
    script = "trap '' TERM; setsid sh -c 'echo $$; exec sleep 1000' & echo $$; pwd; while :; do sleep 0.01; done"
    await local.start("sh", "-c", script)
    lines: list[bytes] = []
    async for piece in local.log().pieces(follows=True):
        lines.append(piece.data.strip())
        if len(lines) == 3:
            break

    await local.containers.close()

    numbers = [int(one) for one in lines if one.isdigit()]
    (directory,) = [one for one in lines if not one.isdigit()]
    await asyncio.gather(*map(wait_until_ended, numbers))
    assert not Path(directory.decode()).parents[1].exists()


async def test_the_processes_of_a_killed_server_end_and_their_files_go() -> None:
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", _SERVER, stdout=PIPE)
    assert server.stdout is not None
    words = b" ".join([await server.stdout.readline() for _ in range(3)]).split()
    numbers = [int(one) for one in words if one.isdigit()]
    (directory,) = [Path(one.decode()).parents[1] for one in words if not one.isdigit()]

    server.kill()

    await server.wait()
    await asyncio.gather(*map(wait_until_ended, [*numbers, *_started_with(str(directory))]))
    assert len(numbers) == 3
    assert not directory.exists()


def _started_with(argument: str) -> list[int]:
    """The processes with an argument."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if argument.encode() in (one / "cmdline").read_bytes().split(b"\0"):
                found.append(int(one.name))
    return found


class _Hasty(SystemClock):
    """A clock on which a log does not slow its program down."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)

    @property
    def patience(self) -> Clock:
        return self


async def test_a_log_begins_anew_at_its_limit_and_its_readers_go_on(tmp_path: Path) -> None:
    log = ProcessLog(tmp_path / "log", _Hasty())

    async def follow() -> list[bytes]:
        return [piece.data async for piece in log.pieces(follows=True)]

    reading = asyncio.create_task(follow())
    for number in range(200):
        await log.write(1, b"%d" % (number % 10) * 60_000 + b"\n")
    log.end()
    read = await reading
    kept = [piece.data async for piece in log.pieces(follows=False)]
    log.remove()

    assert len(read) == 200
    assert 0 < len(kept) < 50
    assert kept[-1] == b"9" * 60_000 + b"\n"
