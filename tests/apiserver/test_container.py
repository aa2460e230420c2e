"""The container files, as far as they can be checked without a container engine."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.apiserver import program
from tests.apiserver.serving import Answer, ask, bearer
from tests.paths import ROOT
from tests.storage.kv.etcd_server import Member

DOCKERFILE = (ROOT / "Dockerfile").read_text()


@pytest.fixture
def etcd() -> Iterator[Member]:
    with Member() as member:
        yield member


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return found


def instruction(name: str) -> str:
    """The last instruction of a name, with its continuation lines."""
    joined = DOCKERFILE.replace("\\\n", " ")
    lines: list[str] = re.findall(rf"^{name} +(.*)$", joined, re.MULTILINE)
    return lines[-1].strip()


def test_the_image_runs_as_an_unprivileged_user() -> None:
    user, _, group = instruction("USER").partition(":")

    assert int(user) > 1000
    assert int(group) > 1000


def test_the_image_brings_what_the_build_needs_and_no_more() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {
        source for line in re.findall(r"^COPY ([^-].*)$", DOCKERFILE, re.MULTILINE) for source in line.split()[:-1]
    }

    assert copied == allowed
    assert all((ROOT / source).exists() for source in copied)


def test_the_health_check_is_a_program() -> None:
    command = json.loads(instruction("HEALTHCHECK").partition("CMD")[2])

    assert command[:2] == ["python", "-c"]
    compile(command[2], "HEALTHCHECK", "exec")


def test_services_keep_their_data_and_know_when_they_are_well() -> None:
    found = services()

    assert all(service["volumes"] for service in found.values())
    assert found["apiserver"]["depends_on"]["etcd"]["condition"] == "service_healthy"
    assert "healthcheck" in found["etcd"]
    assert instruction("HEALTHCHECK")


async def asked(directory: Path, *arguments: str, method: str = "GET", body: bytes = b"") -> Answer:
    """Start a server, request a namespace (or create it), and stop the server."""
    async with program.running(directory, *arguments, backend="") as running:
        path = "/api/v1/namespaces" if body else "/api/v1/namespaces/made"
        headers = bearer((directory / "pki" / "admin.token").read_text())
        answer = await ask(
            running.port, path, method=method, body=body, tls=program.trusting(directory), headers=headers
        )
        ended = await running.stop()
    assert ended.code == 0, ended.err
    return answer


async def test_the_servers_command_line_works_on_a_real_etcd(tmp_path: Path, etcd: Member) -> None:
    command = [argument.replace("http://etcd:2379", etcd.endpoint) for argument in services()["apiserver"]["command"]]
    namespace = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"made"}}'

    made = await asked(tmp_path / "one", *command, method="POST", body=namespace)
    found = await asked(tmp_path / "two", *command)

    assert (made.status, found.status) == (201, 200)
    assert found.json["metadata"]["uid"] == made.json["metadata"]["uid"]
