"""Directories and tokens: the file modes of the server's data, and which tokens of its own keys it accepts."""

from pathlib import Path
from typing import Any

import jwt
import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import as_admin, ask, bearer, running, trusting

WRONG: tuple[Any, ...] = ("never", "9999999999", True, [], {})
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


@pytest.mark.parametrize("backend", ["sqlite", "memory"])
async def test_the_data_directory_is_its_owners_alone(tmp_path: Path, backend: str) -> None:
    directory = tmp_path / "new" / "data"

    async with running(directory, storage_backend=backend):
        made = [directory.parent, directory, *(one for one in directory.rglob("*") if one.is_dir())]

    assert len(made) >= 3
    assert {one.stat().st_mode & 0o777 for one in made} == {0o700}


async def test_a_directory_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    directory = tmp_path / "shared"
    directory.mkdir(mode=0o755)

    async with running(directory):
        mode = directory.stat().st_mode & 0o777

    assert mode == 0o755


async def token_of(server: Server, name: str) -> str:
    await ask(
        server.secure.port,
        ACCOUNTS,
        method="POST",
        headers={"Content-Type": "application/json"},
        body=orjson.dumps({"metadata": {"name": name}}),
        tls=as_admin(server),
    )
    answer = await ask(
        server.secure.port,
        f"{ACCOUNTS}/{name}/token",
        method="POST",
        headers={"Content-Type": "application/json"},
        body=b"{}",
        tls=as_admin(server),
    )
    token: str = answer.json["status"]["token"]
    return token


@pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
async def test_a_token_whose_times_are_no_numbers_is_refused(tmp_path: Path, name: str) -> None:
    """The server's own key signs the token. go-jose reads such claims as errors, never as "no limit"."""
    async with running(tmp_path) as server:
        token = await token_of(server, "bot")
        key = (tmp_path / "pki" / "service-account.key").read_text()
        claims, header = jwt.decode(token, options={"verify_signature": False}), jwt.get_unverified_header(token)

        async def status_with(**changes: Any) -> int:
            payload = orjson.dumps({**claims, **changes})
            signed = jwt.PyJWS().encode(payload, key, header["alg"], {"kid": header["kid"]})
            answer = await ask(server.secure.port, "/api", headers=bearer(signed), tls=trusting(server))
            return answer.status

        unchanged = await status_with()
        found = [await status_with(**{name: value}) for value in WRONG]

    assert unchanged == 200
    assert found == [401] * 5
