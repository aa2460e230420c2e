"""The container files, as far as they can be checked without a container engine."""

import asyncio
import json
import re
import tomllib
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509

from aio_apiserver.apiserver.commands import healthcheck
from aio_apiserver.apiserver.commands.terminal import command_lines
from aio_apiserver.apiserver.config import command_line, flag_grammar
from aio_apiserver.apiserver.config.flags.unused_flags import UNUSED
from tests.apiserver import program
from tests.apiserver.serving import ask, bearer
from tests.paths import ROOT
from tests.storage.kv.etcd_server import Cluster, Member

DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = (ROOT / "docker-compose.yml").read_text()
SERVERS = ("apiserver", "apiserver-single")


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE)["services"]
    return found


def option(service: str, name: str) -> str:
    """The value of a flag in the command of a service."""
    [value] = [text.partition("=")[2] for text in services()[service]["command"] if text.startswith(f"--{name}=")]
    return str(value)


def instruction(name: str) -> str:
    """The last instruction of a name, with its continuation lines."""
    joined = DOCKERFILE.replace("\\\n", " ")
    lines: list[str] = re.findall(rf"^{name} +(.*)$", joined, re.MULTILINE)
    return lines[-1].strip()


def test_the_image_runs_as_nobody_in_particular() -> None:
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

    assert command[:2] == ["apiserver", "healthcheck"]
    assert command_lines.parse(command[2:], healthcheck.FLAGS).text("path") == "/livez"


def test_every_etcd_keeps_its_data_and_every_server_waits_for_all_of_its_etcds() -> None:
    found = services()
    etcds = {name for name in found if name.startswith("etcd")}

    assert {name for name in etcds if found[name]["volumes"] == [f"{name}:/data"]} == etcds
    assert all("healthcheck" in service for name, service in found.items() if name != "balancer")
    for server in SERVERS:
        named = set(re.findall(r"http://([a-z0-9-]+):2379", option(server, "etcd-servers")))
        assert named == set(found[server]["depends_on"])
        assert named <= etcds
        assert {one["condition"] for one in found[server]["depends_on"].values()} == {"service_healthy"}
    assert instruction("VOLUME") == "/data"
    assert instruction("HEALTHCHECK")


def test_a_profile_has_all_that_its_services_need() -> None:
    found = services()
    profiles = {name: set(service["profiles"]) for name, service in found.items()}

    assert {frozenset(one) for one in profiles.values()} == {frozenset({"replicas"}), frozenset({"single"})}
    for name, service in found.items():
        assert all(profiles[needed] == profiles[name] for needed in service.get("depends_on", ()))


def test_the_base_is_one_image_for_every_architecture_pinned_by_its_digest() -> None:
    [base] = re.findall(r"^ARG BASE=(.*)$", DOCKERFILE, re.MULTILINE)
    name, _, digest = base.partition("@")

    assert re.fullmatch(r"python:\d+\.\d+\.\d+-slim-[a-z]+", name)
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", digest)
    assert re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE) == ["${BASE}"] * 2
    assert not re.search(r"amd64|x86_64|aarch64|--platform=", instruction("RUN"))


def test_the_labels_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [base] = re.findall(r"^ARG BASE=(.*)$", DOCKERFILE, re.MULTILINE)
    labels = dict(re.findall(r'org\.opencontainers\.image\.([a-z.]+)="([^"]*)"', instruction("LABEL")))

    assert labels.pop("description")
    assert labels == {
        "title": project["name"],
        "licenses": project["license"],
        "base.name": f"docker.io/library/{base.partition('@')[0]}",
        "base.digest": base.partition("@")[2],
    }


def test_the_image_has_a_bill_of_materials() -> None:
    joined = DOCKERFILE.replace("\\\n", " ")

    assert re.search(r"python scripts/sbom\.py > /opt/aio-apiserver/share/sbom/\S+\.cdx\.json", joined)


def test_images_are_pinned_by_a_version_and_its_digest() -> None:
    images = {service["image"] for service in services().values() if "build" not in service}

    assert len(images) == 2
    assert all(re.fullmatch(r"[a-z./-]+:v?\d+\.\d+\.\d+(-alpine)?@sha256:[0-9a-f]{64}", image) for image in images)


@pytest.mark.parametrize("name", services())
def test_a_container_has_no_rights_and_writes_to_its_volumes_alone(name: str) -> None:
    service = services()[name]

    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all("127.0.0.1:" in port for port in service.get("ports", ()))


def test_replicas_can_be_scaled() -> None:
    replicas = services()["apiserver"]

    assert replicas["deploy"]["replicas"] == 2
    assert not {"container_name", "ports", "volumes"} & set(replicas)


def test_a_server_has_time_to_stop() -> None:
    for server in SERVERS:
        assert services()[server]["stop_grace_period"] == "60s"


@pytest.mark.parametrize("server", ["apiserver", "apiserver-single"])
def test_all_flags_have_an_effect(server: str) -> None:
    parsed = flag_grammar.parse(services()[server]["command"], command_line.flags(), UNUSED)

    assert parsed.ignored == []
    assert command_line.settings_of(parsed).external_hostname == server


def test_the_health_check_of_a_server_asks_whether_it_is_ready() -> None:
    for server in SERVERS:
        [how, *command] = services()[server]["healthcheck"]["test"]
        assert (how, command[:2]) == ("CMD", ["apiserver", "healthcheck"])
        assert command_lines.parse(command[2:], healthcheck.FLAGS).text("path") == "/readyz"


def test_the_balancer_passes_tls_on_to_replicas_that_are_ready() -> None:
    config = (ROOT / "deploy/compose/haproxy.cfg").read_text()
    balancer = services()["balancer"]

    assert balancer["volumes"] == ["./deploy/compose/haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro"]
    assert "mode tcp" in config
    assert "uri /readyz" in config
    assert re.search(r"server-template \S+ \d+ apiserver:6443$", config, re.MULTILINE)
    assert balancer["networks"]["default"]["aliases"] == ["kubernetes"]


def test_every_port_that_is_named_is_one_that_is_served() -> None:
    parsed = flag_grammar.parse(services()["apiserver"]["command"], command_line.flags(), UNUSED)
    config = (ROOT / "deploy/compose/haproxy.cfg").read_text()
    balancer = re.findall(r"(?:bind |apiserver):(\d+)$", config, re.MULTILINE)
    published = [mapping.rpartition(":")[2] for one in services().values() for mapping in one.get("ports", ())]

    assert {*published, *balancer} == {str(command_line.settings_of(parsed).secure_port)}
    for name in (name for name in services() if name.startswith("etcd")):
        flags = dict(flag.removeprefix("--").split("=", 1) for flag in services()[name]["command"][1:])
        assert flags["advertise-client-urls"] == flags["listen-client-urls"].replace("0.0.0.0", name)  # noqa: S104
        listens = flags.get("listen-peer-urls", "").replace("0.0.0.0", name)  # noqa: S104
        assert flags.get("initial-advertise-peer-urls", "") == listens


def with_endpoints(command: list[str], endpoints: Sequence[str]) -> list[str]:
    """The command of a service on etcds of a test."""
    found = [argument for argument in command if not argument.startswith("--etcd-servers=")]
    assert len(found) == len(command) - 1
    return [*found, f"--etcd-servers={','.join(endpoints)}"]


async def test_two_replicas_of_the_file_share_three_etcd_members(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    with Cluster(3) as etcd:
        command = with_endpoints(services()["apiserver"]["command"], etcd.endpoints)
        assert option("apiserver", "etcd-servers").count(",") + 1 == len(etcd.endpoints)
        async with program.running(a, *command, backend="") as one, program.running(b, *command, backend="") as other:
            headers = bearer((a / "pki" / "admin.token").read_text())
            body = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"made"}}'
            made = await ask(
                one.port, "/api/v1/namespaces", method="POST", body=body, tls=program.trusting(a), headers=headers
            )
            found = await ask(other.port, "/api/v1/namespaces/made", tls=program.trusting(a), headers=headers)
            names = alternative_names(b / "pki" / "apiserver.crt")

    assert (made.status, found.status) == (201, 200)
    assert found.json["metadata"]["uid"] == made.json["metadata"]["uid"]
    assert {"apiserver", "kubernetes", "localhost"} <= names


async def test_the_one_server_of_the_file_works_with_the_curl_line_of_its_header(tmp_path: Path) -> None:
    [line] = re.findall(r"^#   (curl .*)$", COMPOSE, re.MULTILINE)
    with Member() as etcd:
        command = with_endpoints(services()["apiserver-single"]["command"], [etcd.endpoint])
        async with program.running(tmp_path, *command, backend="") as running:
            ready = line.replace("docker compose exec -T apiserver cat /data", f"cat {tmp_path}")
            ready = ready.replace(":6443", f":{running.port}").replace("watch=1", "watch=1&timeoutSeconds=1")
            curl = await asyncio.create_subprocess_exec("bash", "-c", f"{ready} --silent", stdout=PIPE, stderr=PIPE)
            out, err = await curl.communicate()

    assert line.count("docker compose exec -T apiserver cat /data") == 2
    assert curl.returncode == 0, err.decode()
    events = [json.loads(event) for event in out.splitlines()]
    assert ("ADDED", "default") in [(event["type"], event["object"]["metadata"]["name"]) for event in events]


def alternative_names(certificate: Path) -> set[str]:
    found = x509.load_pem_x509_certificate(certificate.read_bytes()).extensions
    return set(found.get_extension_for_class(x509.SubjectAlternativeName).value.get_values_for_type(x509.DNSName))
