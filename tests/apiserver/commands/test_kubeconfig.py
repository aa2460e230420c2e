"""`apiserver kubeconfig`: credentials that a running server accepts, and the merge into a kubeconfig file."""

import base64
import json
import ssl
import stat
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509

from aio_apiserver.apiserver import command
from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient
from tests.apiserver.commands.conftest import EmbeddedServer
from tests.storage.kv.etcd_server import Member

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert command.run(["kubeconfig", *arguments]) == 0, capsys.readouterr().err
    return yaml.safe_load(capsys.readouterr().out)


def client_of(config: Mapping[str, Any], directory: Path) -> BlockingClient:
    """A connection with the credentials of a kubeconfig."""
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    if "client-key-data" in user:
        pair = directory / "pair.pem"
        pair.write_bytes(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
        tls.load_cert_chain(pair)
    return BlockingClient(int(cluster["server"].rpartition(":")[2]), tls, user.get("token", ""))


def who(config: Mapping[str, Any], directory: Path) -> Any:
    """The user that the server sees."""
    document = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    with client_of(config, directory) as client:
        return client.request("POST", REVIEW, document)["status"]["userInfo"]


def test_it_prints_the_administrators_credentials(
    embedded: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = printed(capsys, embedded.store)

    assert config["clusters"][0]["cluster"]["server"] == embedded.server.url
    assert "system:masters" in who(config, tmp_path)["groups"]


def test_a_user_has_a_certificate_with_groups_and_an_end(
    embedded: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = printed(capsys, "--user=alice", "--group=devs,testers", "--expiry=2h", embedded.store)

    user = who(config, tmp_path)
    assert (user["username"], user["groups"]) == ("alice", ["devs", "testers", "system:authenticated"])
    shown = x509.load_pem_x509_certificate(base64.b64decode(config["users"][0]["user"]["client-certificate-data"]))
    left = shown.not_valid_after_utc - datetime.now(UTC)
    assert timedelta(hours=1) < left <= timedelta(hours=2)


def test_tokens_are_of_the_administrator_or_of_a_service_account(
    embedded: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with embedded.server.client() as client:
        client.request("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "robot"}})
    robot = "system:serviceaccount:default:robot"

    admin = printed(capsys, "--token", embedded.store)
    account = printed(capsys, "--token", f"--user={robot}", "--expiry=1h", embedded.store)

    assert "system:masters" in who(admin, tmp_path)["groups"]
    assert who(account, tmp_path)["username"] == robot
    assert command.run(["kubeconfig", "--token", "--user=alice", embedded.store]) == 2
    assert "service account" in capsys.readouterr().err
    assert command.run(["kubeconfig", "--token", f"--user={robot}2", embedded.store]) == 1
    assert "no service account robot2" in capsys.readouterr().err


def test_a_merge_keeps_the_entries_of_the_file(
    embedded: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config"
    other = {"name": "other", "cluster": {"server": "https://other"}}
    path.write_text(json.dumps({"clusters": [other], "preferences": {"colors": True}, "current-context": "other"}))

    for _ in range(2):
        command.run(["kubeconfig", f"--merge={path}", "--name=edge", embedded.store])

    config = yaml.safe_load(path.read_text())
    assert capsys.readouterr().out.splitlines()[-1] == f"{path}: context edge"
    assert [one["name"] for one in config["clusters"]] == ["other", "edge"]
    assert (config["preferences"], config["current-context"]) == ({"colors": True}, "edge")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.with_name("config.lock").exists()


def test_a_file_that_another_program_changes_is_left_alone(
    embedded: EmbeddedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.lock").touch()

    assert command.run(["kubeconfig", f"--merge={tmp_path / 'config'}", embedded.store]) == 1
    assert "config.lock exists" in capsys.readouterr().err


def test_the_keys_of_servers_on_etcd_are_read_from_etcd(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Member() as etcd:
        servers = f"--etcd-servers={etcd.endpoint}"
        assert command.run(["kubeconfig", servers, f"--data-dir={tmp_path / 'a'}"]) == 1
        assert "no server has shared" in capsys.readouterr().err
        assert not (tmp_path / "a").exists()

        with Server(data_dir=tmp_path / "b", storage_backend="etcd3", etcd_servers=etcd.endpoint) as server:
            config = printed(capsys, servers, f"--server={server.url}", f"--data-dir={tmp_path / 'c'}")
            assert "system:masters" in who(config, tmp_path)["groups"]


@pytest.mark.parametrize("flags", [["word"], ["--group=a"], ["--expiry=soon"], ["--expiry=0"], ["-o", "table"]])
def test_wrong_flags_are_refused(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["kubeconfig", *flags]) == 2
    assert capsys.readouterr().err.startswith("Error: ")


def test_a_directory_without_keys_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["kubeconfig", f"--data-dir={tmp_path}"]) == 1
    assert f"{tmp_path / 'pki'} has no certificate authority" in capsys.readouterr().err
