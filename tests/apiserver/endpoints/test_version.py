from pathlib import Path

import pytest

from aio_apiserver.apiserver.endpoints import version
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.base.timeline import DEFAULT
from tests.apiserver.serving import ask, bearer, running, trusting


@pytest.mark.parametrize("path", ["/version", "/version/"])
async def test_anonymous_clients_may_read_the_version(tmp_path: Path, path: str) -> None:
    async with running(tmp_path) as server:
        answer = await ask(server.secure.port, path, tls=trusting(server))

    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json | {"major": "1", "minor": "36", "gitVersion": "v1.36.4"} == answer.json
    assert answer.text.startswith('{\n  "major": "1",')


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
async def test_it_can_only_be_got(tmp_path: Path, method: str) -> None:
    async with running(tmp_path) as server:
        answer = await ask(
            server.secure.port,
            "/version",
            method=method,
            tls=trusting(server),
            headers=bearer(server.pki.admin_token),
        )

    assert answer.status == 405
    assert method == "HEAD" or answer.json["reason"] == "MethodNotAllowed"


async def test_there_is_nothing_below_it(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        answer = await ask(
            server.secure.port, "/version/x", tls=trusting(server), headers=bearer(server.pki.admin_token)
        )

    assert (answer.status, answer.json["message"]) == (404, "the server could not find the requested resource")


def test_the_fields_stand_in_kubernetes_order() -> None:
    assert list(version.info(Minor(), DEFAULT)) == [
        "major",
        "minor",
        "emulationMajor",
        "emulationMinor",
        "minCompatibilityMajor",
        "minCompatibilityMinor",
        "gitVersion",
        "gitCommit",
        "gitTreeState",
        "buildDate",
        "goVersion",
        "compiler",
        "platform",
    ]
