"""Rotation of the keys of a data directory: what was good before stays good until the end, from start to start."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from aio_apiserver.apiserver import command
from aio_apiserver.apiserver.server import Server
from tests.apiserver.replicas.replica_servers import SECRET, service_account_token, with_token
from tests.apiserver.serving import as_admin, ask, running

SELF = "/api/v1/namespaces/default/serviceaccounts/default"
OK, UNAUTHORIZED, FORBIDDEN = 200, 401, 403


def served(directory: Path) -> AbstractAsyncContextManager[Server]:
    return running(directory, storage_backend="sqlite")


async def rotate(name: str, directory: Path, *more: str) -> int:
    """The exit code. A command has an event loop of its own."""
    return await asyncio.to_thread(command.run, ["rotate", name, f"--data-dir={directory}", *more])


async def status(server: Server, token: str, path: str = SECRET) -> int:
    return (await with_token(server, token, path)).status


async def test_the_token_of_the_administrator(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        old = server.pki.admin_token

    assert await rotate("admin-token", tmp_path) == 0
    async with served(tmp_path) as server:
        new = server.pki.admin_token
        assert new != old
        assert [await status(server, token) for token in (old, new)] == [OK, OK]

    assert await rotate("admin-token", tmp_path, "--finish") == 0
    async with served(tmp_path) as server:
        assert [await status(server, token) for token in (old, new)] == [UNAUTHORIZED, OK]


async def test_the_key_of_service_accounts(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        old = await service_account_token(server)

    assert await rotate("service-account-key", tmp_path) == 0
    async with served(tmp_path) as server:
        new = await service_account_token(server)
        assert [await status(server, token, SELF) for token in (old, new)] == [FORBIDDEN, FORBIDDEN]

    assert await rotate("service-account-key", tmp_path, "--finish") == 0
    async with served(tmp_path) as server:
        assert [await status(server, token, SELF) for token in (old, new)] == [UNAUTHORIZED, FORBIDDEN]


async def test_the_certificate_authority(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        old = as_admin(server)

    assert await rotate("ca", tmp_path) == 0
    async with served(tmp_path) as server:
        new = as_admin(server)
        for tls in (old, new):
            assert (await ask(server.secure.port, SECRET, tls=tls)).status == OK

    assert await rotate("ca", tmp_path, "--finish") == 0
    async with served(tmp_path) as server:
        assert (await ask(server.secure.port, SECRET, tls=new)).status == OK
        with pytest.raises(OSError, match="certificate verify failed"):
            await ask(server.secure.port, SECRET, tls=old)
    assert (tmp_path / "pki" / "ca.crt").read_text().count("BEGIN CERTIFICATE") == 1


async def test_a_running_server_and_a_directory_without_keys_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served(tmp_path):
        assert await rotate("ca", tmp_path) == 1
        assert "is in use by process" in capsys.readouterr().err
    assert await rotate("ca", tmp_path, "--finish") == 1
    assert await rotate("ca", tmp_path / "none") == 1
    assert capsys.readouterr().err.splitlines() == [
        "Error: there is no old key to drop",
        f"Error: {tmp_path / 'none' / 'pki'} has no keys: name the --data-dir of a server",
    ]
    assert not (tmp_path / "none").exists()
