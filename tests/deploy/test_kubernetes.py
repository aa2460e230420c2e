"""deploy/kubernetes: manifests that the server itself accepts, with flags that exist."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import yaml

from aio_apiserver.apiserver import server
from aio_apiserver.apiserver.config import command_line, flag_grammar
from aio_apiserver.apiserver.config.flags.unused_flags import UNUSED
from tests.apiserver.serving import LOOPBACK, as_admin, ask, running, trusting
from tests.paths import ROOT
from tests.storage.kv.etcd_server import Member

PLURALS = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "Service": "/api/v1/namespaces/{namespace}/services",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets",
    "Deployment": "/apis/apps/v1/namespaces/{namespace}/deployments",
}


def manifests() -> Iterator[dict[str, Any]]:
    """In the order in which kubectl applies a folder."""
    for path in sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml")):
        yield from yaml.safe_load_all(path.read_text())


def pod() -> dict[str, Any]:
    [deployment] = [one for one in manifests() if one["kind"] == "Deployment"]
    found: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return found


async def test_a_server_accepts_every_manifest_strictly(tmp_path: Path) -> None:
    async with running(tmp_path) as started:
        answers = []
        for manifest in manifests():
            path = PLURALS[manifest["kind"]].format(namespace=manifest["metadata"].get("namespace"))
            answers.append(
                await ask(
                    started.secure.port,
                    f"{path}?fieldValidation=Strict",
                    method="POST",
                    body=orjson.dumps(manifest),
                    headers={"Content-Type": "application/json"},
                    tls=as_admin(started),
                )
            )

    assert [answer.text for answer in answers if answer.status != 201] == []
    assert all("warning" not in answer.headers for answer in answers)
    assert {manifest["kind"] for manifest in manifests()} == set(PLURALS)


def test_all_flags_have_an_effect() -> None:
    [container] = pod()["containers"]
    [address] = container["env"]
    arguments = [argument.replace(f"$({address['name']})", "10.0.0.7") for argument in container["args"]]

    parsed = flag_grammar.parse(arguments, command_line.flags(), UNUSED)
    settings = command_line.settings_of(parsed)

    assert parsed.ignored == []
    assert settings.advertise_address == "10.0.0.7"
    assert settings.etcd_cafile is not None


def test_a_pod_has_more_time_to_stop_than_the_server_takes() -> None:
    [container] = pod()["containers"]
    settings = command_line.settings_of(flag_grammar.parse(_of_stopping(container), command_line.flags(), UNUSED))

    longest = settings.shutdown_delay_duration + settings.shutdown_watch_termination_grace_period
    assert longest < pod()["terminationGracePeriodSeconds"]


async def test_a_pod_that_starts_without_etcd_is_alive_and_becomes_ready_when_etcd_comes(
    tmp_path: Path, etcd_binary: Path
) -> None:
    [container] = pod()["containers"]
    [port] = [one["name"] for one in container["ports"]]
    live, ready = (container[name]["httpGet"] for name in ("livenessProbe", "readinessProbe"))
    flags = [argument for argument in container["args"] if argument.startswith("--livez-")]

    with Member(binary=etcd_binary) as etcd:
        etcd.kill()
        flags += [f"--data-dir={tmp_path}", "--secure-port=0", f"--bind-address={LOOPBACK}"]
        flags += [f"--etcd-servers={etcd.endpoint}"]
        started = await server.start(command_line.settings_of(flag_grammar.parse(flags, command_line.flags(), UNUSED)))
        try:
            early = [await _probed(started, probe) for probe in (live, ready)]
            await asyncio.to_thread(etcd.start)
            await started.wait_until_ready()
            late = [await _probed(started, probe) for probe in (live, ready)]
        finally:
            await started.stop()

    assert {(probe["scheme"], probe["port"]) for probe in (live, ready)} == {("HTTPS", port)}
    assert (early, late) == ([200, 500], [200, 200])


async def _probed(started: server.Server, probe: dict[str, Any]) -> int:
    """The status that a kubelet gets, which has no credentials."""
    return (await ask(started.secure.port, probe["path"], tls=trusting(started))).status


def _of_stopping(container: dict[str, Any]) -> list[str]:
    return [argument for argument in container["args"] if argument.startswith("--shutdown-")]
