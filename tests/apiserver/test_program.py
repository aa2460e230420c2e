import asyncio
from importlib import metadata
from pathlib import Path
from signal import SIGINT, SIGTERM, Signals

import orjson
import pytest

from aio_apiserver.apiserver.config import usage
from aio_apiserver.storage.factory import unfinished_copy
from aio_apiserver.storage.kv.sqlite import SqliteKV
from tests.apiserver import program
from tests.apiserver.serving import LOOPBACK, ask, bearer, read_answer


async def test_it_tells_when_it_is_ready_and_how_to_reach_it(tmp_path: Path) -> None:
    async with program.running(tmp_path) as running:
        answer = await ask(running.port, "/readyz", tls=program.trusting(tmp_path))
        ready = (tmp_path / "ready").read_text()
        ended = await running.stop()

    assert answer.text == "ok"
    assert running.line == f"export KUBECONFIG={tmp_path}/admin.kubeconfig\n"
    assert ready == f"https://127.0.0.1:{running.port}\n"
    assert (ended.code, ended.out) == (0, "")
    assert not (tmp_path / "ready").exists()


@pytest.mark.parametrize("number", [SIGTERM, SIGINT])
async def test_a_signal_ends_it_with_500_connections_open(tmp_path: Path, number: Signals) -> None:
    async with program.running(tmp_path) as running:
        tls = program.trusting(tmp_path)
        token = (tmp_path / "pki" / "admin.token").read_text()
        clients = [await asyncio.open_connection(LOOPBACK, running.port, ssl=tls) for _ in range(500)]
        target = "GET /api/v1/configmaps?watch=1 HTTP/1.1"
        lines = "".join(f"{name}: {value}\r\n" for name, value in bearer(token).items())
        for _, writer in clients:
            writer.write(f"{target}\r\nHost: a\r\n{lines}\r\n".encode())
        heads = [await reader.readuntil(b"\r\n\r\n") for reader, _ in clients]

        ended = await running.stop(number)
        ends = await asyncio.gather(*(reader.read() for reader, _ in clients))
        for _, writer in clients:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for _, writer in clients), return_exceptions=True)

    assert ended.code == 0
    assert all(b" 200 OK" in head for head in heads)
    assert all(end.endswith(b"0\r\n\r\n") for end in ends)
    assert "Traceback" not in ended.err


async def test_idle_connections_do_not_hold_it_up(tmp_path: Path) -> None:
    async with program.running(tmp_path) as running:
        tls = program.trusting(tmp_path)
        reader, writer = await asyncio.open_connection(LOOPBACK, running.port, ssl=tls)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        await read_answer(reader)
        silent, silent_writer = await asyncio.open_connection(LOOPBACK, running.port)

        ended = await running.stop()

        for one in (writer, silent_writer):
            one.close()
        await asyncio.gather(writer.wait_closed(), silent_writer.wait_closed(), return_exceptions=True)
        del silent

    assert ended.code == 0


async def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    async with program.running(tmp_path) as running:
        reader, writer = await asyncio.open_connection(LOOPBACK, running.port, ssl=program.trusting(tmp_path))
        token = (tmp_path / "pki" / "admin.token").read_text()
        head = f"POST /api/v1/namespaces HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n"
        writer.write(f"{head}Expect: 100-continue\r\nContent-Length: 10\r\n\r\nhalf".encode())
        await reader.readuntil(b"\r\n\r\n")

        running.process.send_signal(SIGTERM)
        assert running.process.stderr is not None
        while b"stopping" not in await running.process.stderr.readline():
            pass
        ended = await running.stop()

        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    assert ended.code == 1


async def test_json_logs_are_json(tmp_path: Path) -> None:
    async with program.running(tmp_path, "--logging-format=json", "-v=3") as running:
        await ask(running.port, "/healthz", tls=program.trusting(tmp_path))
        ended = await running.stop()

    entries = [orjson.loads(line) for line in ended.err.splitlines()]
    assert all(entry.keys() >= {"ts", "caller", "msg"} for entry in entries)
    requests = [entry for entry in entries if entry["msg"] == "HTTP"]
    assert (requests[0]["URI"], requests[0]["resp"], requests[0]["v"]) == ("/healthz", 200, 3)


async def test_no_secret_reaches_the_logs(tmp_path: Path) -> None:
    async with program.running(tmp_path, "-v=10") as running:
        token = (tmp_path / "pki" / "admin.token").read_text()
        await ask(running.port, "/version", tls=program.trusting(tmp_path), headers=bearer(token))
        await ask(running.port, "/version", tls=program.trusting(tmp_path), headers=bearer("stolen-token"))
        ended = await running.stop()

    assert token not in ended.err
    assert "stolen-token" not in ended.err


async def test_flags_that_have_no_effect_are_warned_about(tmp_path: Path) -> None:
    async with program.running(tmp_path, "--contention-profiling=false", "--log-flush-frequency=5s") as running:
        ended = await running.stop()

    assert "flag --contention-profiling is ignored" in ended.err
    assert "flag --log-flush-frequency is ignored" in ended.err


async def test_a_wrong_command_line_is_exit_2() -> None:
    ended = await program.run("--foo")

    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "Error: unknown flag: --foo\nSee 'apiserver --help' for usage.\n"


async def test_a_start_that_fails_is_exit_1(tmp_path: Path) -> None:
    ended = await program.run(
        f"--data-dir={tmp_path}", "--storage-backend=memory", f"--token-auth-file={tmp_path}/none", "--secure-port=0"
    )

    assert (ended.code, ended.out) == (1, "")
    assert "cannot start: " in ended.err
    assert "Traceback" not in ended.err


async def test_a_half_restored_store_is_exit_1(tmp_path: Path) -> None:
    kv = await SqliteKV.open(tmp_path)
    await kv.put(unfinished_copy.marker(b"/registry/"), b"", expected_mod_revision=0)
    await kv.close()

    ended = await program.run(f"--data-dir={tmp_path}", "--secure-port=0")

    assert (ended.code, ended.out) == (1, "")
    assert "cannot start: a restore or a migration into the store below /registry has not been completed" in ended.err
    assert "Traceback" not in ended.err


async def test_help_and_version_are_exit_0() -> None:
    helped, version = await asyncio.gather(program.run("--help"), program.run("--version"))

    assert (helped.code, helped.out) == (0, usage.help_text())
    assert (version.code, version.out) == (
        0,
        f"Kubernetes v1.36.4\naio-apiserver {metadata.version('aio-apiserver')}\n",
    )
