"""--runtime-config, --feature-gates and --emulated-version on a whole server."""

from pathlib import Path

import orjson
import pytest

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import Answer, as_admin, ask, running

CIDRS = "/apis/networking.k8s.io/v1beta1/servicecidrs"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


async def send(server: Server, target: str, *, method: str = "GET", body: bytes = b"") -> Answer:
    headers = {"Content-Type": "application/json"}
    return await ask(server.secure.port, target, method=method, body=body, headers=headers, tls=as_admin(server))


async def test_a_beta_version_shows_the_same_objects(tmp_path: Path) -> None:
    async with running(tmp_path, runtime_config=("api/beta=true",)) as server:
        made = await send(
            server,
            CIDRS,
            method="POST",
            body=orjson.dumps({"metadata": {"name": "more"}, "spec": {"cidrs": ["192.0.2.0/24"]}}),
        )
        stable = await send(server, f"{CIDRS.replace('v1beta1', 'v1')}/more")
        group = (await send(server, "/apis/networking.k8s.io")).json
        documents = (await send(server, "/openapi/v3")).json["paths"]
        registered = await send(server, f"{API_SERVICES}/v1beta1.networking.k8s.io")

    assert (made.status, made.json["apiVersion"]) == (201, "networking.k8s.io/v1beta1")
    assert stable.json["apiVersion"] == "networking.k8s.io/v1"
    assert stable.json["metadata"]["managedFields"][0]["apiVersion"] == "networking.k8s.io/v1beta1"
    assert [one["version"] for one in group["versions"]] == ["v1", "v1beta1"]
    assert group["preferredVersion"]["version"] == "v1"
    assert "apis/networking.k8s.io/v1beta1" in documents
    assert registered.status == 200


async def test_what_is_switched_off_is_not_there(tmp_path: Path) -> None:
    words = ("apps/v1/daemonsets=false", "batch/v1=false")

    async with running(tmp_path, runtime_config=words) as server:
        refused = [
            (await send(server, path)).status
            for path in ("/apis/apps/v1/daemonsets", "/apis/apps/v1/namespaces/x/daemonsets/y/status", "/apis/batch/v1")
        ]
        served = (await send(server, "/apis/apps/v1/deployments")).status
        resources = (await send(server, "/apis/apps/v1")).json["resources"]
        groups = (await send(server, "/apis")).json["groups"]
        registered = (await send(server, f"{API_SERVICES}/v1.batch")).status

    assert refused == [404, 404, 404]
    assert served == 200
    assert not [one["name"] for one in resources if one["name"].startswith("daemonsets")]
    assert "batch" not in [one["name"] for one in groups]
    assert registered == 404


async def test_the_emulated_version_and_the_gates_are_told(tmp_path: Path) -> None:
    gates = ("SizeBasedListCostEstimate=false",)

    async with running(tmp_path, emulated_version=("1.35",), feature_gates=gates) as server:
        version = (await send(server, "/version")).json
        metrics = (await send(server, "/metrics")).text

    assert (version["minor"], version["emulationMinor"], version["minCompatibilityMinor"]) == ("36", "35", "34")
    assert 'kubernetes_feature_enabled{name="SizeBasedListCostEstimate",stage="BETA"} 0\n' in metrics
    assert 'version_info{binary="1.36",component="kube",emulation="1.35",min_compat="1.34"} 1\n' in metrics


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("1.32", "emulation version 1.32 is not between [1.33, 1.36.0]"),
        ("1.37", "emulation version 1.37 is not between [1.33, 1.36.0]"),
        ("1.34.2", "patch version not allowed, got: kube=1.34.2"),
        ("etcd=3.5", "component not registered: etcd"),
        ("x", 'could not parse "x" as version'),
    ],
)
def test_an_emulated_version_that_cannot_be_is_refused(said: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=r"^") as raised:
        Settings.model_validate({"emulated_version": (said,)})

    assert complaint in str(raised.value)
