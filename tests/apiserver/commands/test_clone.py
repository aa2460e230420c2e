"""`apiserver clone`: a running server copied into another one, with uids, statuses and owners."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from aio_apiserver.apiserver import command
from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient, Refused
from tests.apiserver.commands.conftest import EmbeddedServer
from tests.apiserver.commands.stores import crontabs
from tests.storage.kv.etcd_server import Member

SHOP = "/api/v1/namespaces/shop"
CRONTABS = "/apis/example.com/v1/namespaces/shop/crontabs"
CRONTAB = {"apiVersion": "example.com/v1", "kind": "CronTab", "metadata": {"name": "c", "namespace": "shop"}}
PATCH = "application/merge-patch+json"


@pytest.fixture(scope="module")
def source(embedded: EmbeddedServer) -> EmbeddedServer:
    """A server with a few objects in a namespace."""
    with embedded.server.client() as client:
        client.request("POST", "/api/v1/namespaces", {"metadata": {"name": "shop"}})
        owner = client.request("POST", f"{SHOP}/configmaps", {"metadata": {"name": "owner"}})
        owners = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}]
        stranger = [{**owners[0], "name": "gone", "uid": "uid-gone"}]
        client.request("POST", f"{SHOP}/configmaps", {"metadata": {"name": "child", "ownerReferences": owners}})
        client.request("POST", f"{SHOP}/configmaps", {"metadata": {"name": "orphan", "ownerReferences": stranger}})
        client.request("POST", f"{SHOP}/secrets", {"metadata": {"name": "secret"}})
        pod = {"metadata": {"name": "pod"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        client.request("POST", f"{SHOP}/pods", pod)
        running = {"status": {"phase": "Running", "podIP": "10.1.2.3"}}
        client.request("PATCH", f"{SHOP}/pods/pod/status", running, content_type=PATCH)
    embedded.server.apply(crontabs(), {**CRONTAB, "spec": {"replicas": 3}})
    return embedded


def cloned(source: EmbeddedServer, directory: Path, *flags: str) -> int:
    return command.run(["clone", f"--kubeconfig={source.server.kubeconfig}", *flags, f"--data-dir={directory}"])


def get(client: BlockingClient, path: str) -> Any:
    found = client.request("GET", path)
    found["metadata"].pop("resourceVersion")
    return found


def test_a_clone_serves_the_same_objects(
    source: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = (f"{SHOP}/pods/pod", f"{SHOP}/configmaps/owner", f"{SHOP}/configmaps/child", f"{CRONTABS}/c")

    assert cloned(source, tmp_path, "-o", "json") == 0, capsys.readouterr().err

    printed = capsys.readouterr()
    counts = {one["resource"]: (one["objects"], one["note"]) for one in json.loads(printed.out)}
    assert counts["pods"] == (1, "")
    assert counts["secrets"] == (0, "left out: --secrets copies them")
    assert "1 owner references dropped" in printed.err
    assert command.run(["check", f"--data-dir={tmp_path}"]) == 0
    with (
        Server(data_dir=tmp_path, storage_backend="sqlite") as copy,
        copy.client() as there,
        source.server.client() as here,
    ):
        assert [get(there, path) for path in paths] == [get(here, path) for path in paths]
        assert "ownerReferences" not in get(there, f"{SHOP}/configmaps/orphan")["metadata"]
        with pytest.raises(Refused, match="not found"):
            there.request("GET", f"{SHOP}/secrets/secret")


def test_kinds_and_namespaces_are_chosen(
    source: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cloned(source, tmp_path, "--kinds=configmaps,crontabs.example.com", "--secrets", "-n", "shop") == 0

    capsys.readouterr()
    command.run(["inspect", "-o", "json", f"--data-dir={tmp_path}"])
    found = json.loads(capsys.readouterr().out)["items"]
    names = [(one["kind"], one["metadata"]["name"]) for one in found]
    assert sorted(one for one in names if one[1] != "kube-root-ca.crt") == [
        ("ConfigMap", "child"),
        ("ConfigMap", "orphan"),
        ("ConfigMap", "owner"),
        ("CronTab", "c"),
        ("CustomResourceDefinition", "crontabs.example.com"),
        ("Namespace", "shop"),
        ("Secret", "secret"),
    ]


def test_a_clone_goes_into_an_empty_etcd(source: EmbeddedServer, capsys: pytest.CaptureFixture[str]) -> None:
    with Member() as member:
        servers = f"--etcd-servers={member.endpoint}"
        flags = ["clone", f"--kubeconfig={source.server.kubeconfig}", "--kinds=configmaps", servers]
        assert command.run(flags) == 0
        assert command.run(["check", servers]) == 0
        assert command.run(flags) == 1
        assert "--replace" in capsys.readouterr().err


def test_a_token_of_a_credential_plugin_is_used(
    source: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = yaml.safe_load(source.server.kubeconfig.read_text())
    credential = {"kind": "ExecCredential", "status": {"token": source.server.admin_token}}
    plugin: dict[str, Any] = {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh"}
    plugin["args"] = ["-c", 'test -n "$KUBERNETES_EXEC_INFO" && printf %s "$CREDENTIAL"']
    plugin["env"] = [{"name": "CREDENTIAL", "value": json.dumps(credential)}]
    config["users"][0]["user"] = {"exec": plugin}
    path = tmp_path / "config"
    path.write_text(json.dumps(config))
    flags = ["clone", f"--kubeconfig={path}", "--kinds=configmaps"]

    assert command.run([*flags, f"--data-dir={tmp_path / 'a'}"]) == 0

    plugin["args"] = ["-c", "exit 3"]
    path.write_text(json.dumps(config))
    assert command.run([*flags, f"--data-dir={tmp_path / 'b'}"]) == 1
    assert "the credential plugin sh has failed with the code 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kinds": "nothings"}, "nothing is called nothings"),
        ({"context": "none"}, "it has no context named 'none'"),
        ({"kubeconfig": "/nowhere/config"}, "/nowhere/config: No such file"),
    ],
)
def test_what_cannot_be_copied_is_named(
    change: dict[str, str], message: str, source: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = {"kubeconfig": str(source.server.kubeconfig), "data-dir": str(tmp_path / "new"), **change}

    assert command.run(["clone", *(f"--{name}={value}" for name, value in flags.items())]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
