"""A worker, the worker that owns the store, or the supervisor is killed."""

import asyncio
import os
import re
import socket
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP

from aio_apiserver.apiserver.workers import supervisor
from aio_apiserver.apiserver.workers.slots import Plan
from tests.apiserver import program
from tests.apiserver.serving import LOOPBACK
from tests.apiserver.workers.running import CONFIG_MAPS, Address, address_of, connected, is_alive, workers
from tests.simulation.processes.ends import wait_until_ended

_LINE = re.compile(r"[IWE]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \w+\.py:\d+\] ")


async def test_a_killed_worker_is_replaced_and_watches_of_the_other_go_on(tmp_path: Path) -> None:
    async with workers(tmp_path) as started, connected(address := address_of(started)) as (staying, killed):
        await staying.watch(CONFIG_MAPS)

        started.process.send_signal(SIGSTOP)  # the supervisor replaces no worker before the others were asked
        os.kill(killed.pid, SIGKILL)
        await wait_until_ended(killed.pid)
        asking = await address.connect_to(0)
        missed = await asking.ask("/readyz/workers")
        started.process.send_signal(SIGCONT)
        created = await asking.ask(CONFIG_MAPS, method="POST", body={"metadata": {"name": "during"}})
        seen = await staying.event()
        replacing = await address.connect_to(1)
        listed = await replacing.ask(CONFIG_MAPS)
        await replacing.watch(CONFIG_MAPS)
        ended = await started.stop()
        rests = [await one.reader.read() for one in (staying, replacing)]
        for one in (asking, replacing):
            await one.close()

    assert (missed.status, "workers that are not ready: 1" in missed.text) == (500, True)
    assert created.status == 201
    assert seen["object"]["metadata"] == created.json["metadata"]
    assert [item["metadata"] for item in listed.json["items"]] == [created.json["metadata"]]
    assert replacing.pid not in (staying.pid, killed.pid)
    assert (ended.code, "worker 1 has ended (signal SIGKILL)" in ended.err) == (0, True)
    assert [rest[-5:] for rest in rests] == [b"0\r\n\r\n"] * 2
    assert all(_LINE.match(line) for line in ended.err.splitlines())


async def test_a_killed_owner_of_the_store_is_replaced_and_no_write_is_lost(tmp_path: Path) -> None:
    async with workers(tmp_path) as started, connected(address := address_of(started)) as (owner, other):
        watching = await address.connect_to(1)
        await watching.watch(CONFIG_MAPS)
        acknowledged = []
        for number in range(20):
            if number == 10:
                os.kill(owner.pid, SIGKILL)
            answer = await other.ask(CONFIG_MAPS, method="POST", body={"metadata": {"name": f"number-{number:02}"}})
            if answer.status == 201:
                acknowledged.append(answer.json["metadata"])
            else:
                assert answer.json["details"]["retryAfterSeconds"] > 0

        seen = [(await watching.event())["object"]["metadata"] for _ in acknowledged]
        listed = (await other.ask(CONFIG_MAPS)).json
        await watching.close()

    revisions = [int(metadata["resourceVersion"]) for metadata in acknowledged]
    assert len(acknowledged) >= 15
    assert seen == acknowledged
    assert [item["metadata"] for item in listed["items"]] == acknowledged
    assert revisions == sorted(set(revisions))
    assert int(listed["metadata"]["resourceVersion"]) >= revisions[-1]


async def test_a_worker_that_hangs_is_replaced(tmp_path: Path) -> None:
    plan = Plan(1, [(LOOPBACK, 0)], False, "text", 0, look_seconds=0.5)
    flags = ("--workers=2", "--bind-address=127.0.0.1", "--secure-port=0", f"--data-dir={tmp_path}")
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", supervisor.__name__, plan.dump(), *flags), stdout=PIPE, stderr=PIPE
    )
    assert started.stdout is not None
    assert started.stderr is not None
    await started.stdout.readline()
    (hanging,) = Address(tmp_path, 0, started.pid).workers

    os.kill(hanging, SIGSTOP)
    while b"worker 0 hangs" not in (line := await started.stderr.readline()):
        assert line
    while b"worker 0 has ended (signal SIGKILL)" not in (line := await started.stderr.readline()):
        assert line
    started.terminate()
    await started.communicate()

    assert not is_alive(hanging)


async def test_workers_end_with_their_supervisor_and_free_the_port(tmp_path: Path) -> None:
    async with workers(tmp_path, backend="memory") as started:
        pids = list(address_of(started).workers)
        folder = _folder_of(pids[0])

        started.process.kill()
        await started.process.wait()
        while any(map(is_alive, pids)):  # noqa: ASYNC110 - nothing tells when the processes of others end
            await asyncio.sleep(0.01)

        assert not _exists(folder)
        with socket.create_server((LOOPBACK, started.port)):
            pass


async def test_a_store_in_memory_ends_with_the_worker_that_owns_it(tmp_path: Path) -> None:
    async with workers(tmp_path, backend="memory") as started:
        owner = next(pid for pid, number in address_of(started).workers.items() if number == 0)

        os.kill(owner, SIGKILL)
        ended = await program.ended(started.process)

    assert (ended.code, "and the store with it" in ended.err) == (1, True)


def _folder_of(pid: int) -> Path:
    """The folder with the sockets of a worker."""
    return Path(Path(f"/proc/{pid}/cmdline").read_text().split('"')[1])


def _exists(folder: Path) -> bool:
    return folder.exists()
