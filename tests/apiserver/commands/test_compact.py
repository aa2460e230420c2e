"""`apiserver compact`: space is given back, beside a server, without one, and by an etcd. Objects stay."""

import asyncio
import contextlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.apiserver import command
from aio_apiserver.storage.errors import NoSpace
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.testing.client import Refused
from tests.apiserver.commands.conftest import EmbeddedServer
from tests.storage.kv.etcd_server import Member
from tests.storage.transfer.copies import in_directory

MAPS = "/api/v1/namespaces/default/configmaps"
LARGE = "x" * 200_000


def compacted(capsys: pytest.CaptureFixture[str], *flags: str) -> Any:
    capsys.readouterr()
    assert command.run(["compact", "-o", "json", *flags]) == 0, capsys.readouterr().err
    (found,) = json.loads(capsys.readouterr().out)
    return found


def test_a_running_server_gives_space_back(embedded: EmbeddedServer, capsys: pytest.CaptureFixture[str]) -> None:
    with embedded.server.client() as client:
        for number in range(30):
            client.request("POST", MAPS, {"metadata": {"name": f"large-{number}"}, "data": {"a": LARGE}})
        client.request("DELETE", f"{MAPS}?fieldSelector=metadata.name!=kube-root-ca.crt")

        found = compacted(capsys, embedded.store)

        assert found["bytesAfter"] < found["bytesBefore"] / 2
        with pytest.raises(Refused, match="405"):
            client.request("GET", "/debug/compact")
        assert client.request("GET", MAPS)["items"] is not None


def test_a_user_without_the_right_cannot_compact(embedded: EmbeddedServer) -> None:
    with embedded.server.user("alice").client() as client, pytest.raises(Refused) as refusal:
        client.request("POST", "/debug/compact")

    assert refusal.value.status == 403


def test_a_store_without_a_server_keeps_its_objects_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def fill() -> None:
        kv = await SqliteKV.open(tmp_path)
        for number in range(20):
            made = await kv.put(b"/registry/a/%d" % number, LARGE.encode(), expected_mod_revision=0)
            if number:
                await kv.delete(b"/registry/a/%d" % number, expected_mod_revision=made.revision)
        await kv.close()

    asyncio.run(fill())
    before = asyncio.run(in_directory(tmp_path))

    found = compacted(capsys, f"--data-dir={tmp_path}")

    assert found["revision"] == before.revision
    assert found["bytesAfter"] < 600_000 < 4_000_000 < found["bytesBefore"]
    assert asyncio.run(in_directory(tmp_path)) == before
    assert command.run(["check", f"--data-dir={tmp_path}"]) == 1  # its value is no object
    assert compacted(capsys, f"--data-dir={tmp_path}")["revision"] == before.revision


def test_an_etcd_is_defragmented_and_its_alarm_ends(capsys: pytest.CaptureFixture[str]) -> None:
    """An etcd with a small quota that has been filled."""

    async def fill(endpoint: str) -> None:
        kv = EtcdKV(EtcdConfig(endpoints=[endpoint]))
        revision = 0
        with contextlib.suppress(NoSpace):
            while True:
                revision = (await kv.put(b"/registry/a", os.urandom(900_000), expected_mod_revision=revision)).revision
        await kv.close()

    with Member(flags=["--quota-backend-bytes=16777216"]) as member:
        servers = f"--etcd-servers={member.endpoint}"
        asyncio.run(fill(member.endpoint))
        assert command.run(["doctor", servers]) == 1
        assert "NOSPACE" in capsys.readouterr().out

        found = compacted(capsys, servers)

        assert found["bytesAfter"] < found["bytesBefore"] / 2
        assert command.run(["check", servers]) == 1
        assert "NOSPACE" not in capsys.readouterr().out


def test_a_directory_without_a_store_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["compact", f"--data-dir={tmp_path / 'none'}"]) == 1
    assert "there is no store" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
