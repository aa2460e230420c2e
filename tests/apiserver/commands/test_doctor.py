"""`apiserver doctor`: what would go wrong, with the remedy, and what is fine."""

import asyncio
import json
import os
import socket
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from aio_apiserver.apiserver import command
from aio_apiserver.apiserver.commands.checks import machine_diagnoses, store_diagnoses
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.tls import certificates
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.factory.factory import StorageConfig
from tests.apiserver.commands.conftest import EmbeddedServer
from tests.apiserver.commands.stores import fill
from tests.storage.kv.etcd_server import Member


def diagnosed(capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, Mapping[str, tuple[str, str]]]:
    """The exit code, and the severity and message by subject; the clock of the machine is left out."""
    code = command.run(["doctor", "-o", "json", *flags])
    found = json.loads(capsys.readouterr().out)
    return code, {one["subject"]: (one["severity"], one["message"]) for one in found if one["subject"] != "clock"}


def test_a_running_server_is_healthy(embedded: EmbeddedServer, capsys: pytest.CaptureFixture[str]) -> None:
    port = embedded.server.url.rpartition(":")[2]

    code, found = diagnosed(capsys, embedded.store, f"--secure-port={port}", "--bind-address=127.0.0.1")

    assert code == 0
    assert found[f"--secure-port={port}"] == ("ok", "a server of this program answers")
    assert found["lock"][1].startswith(f"process {os.getpid()} uses the directory")
    assert found[str(embedded.data_dir / "store.db")][0] == "ok"
    assert found[str(embedded.data_dir / "pki" / "ca.crt")][0] == "ok"


def test_a_new_directory_is_not_made(tmp_path: Path, free_port: int, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = diagnosed(capsys, f"--data-dir={tmp_path / 'new'}", f"--secure-port={free_port}")

    assert code == 0
    assert found[f"--data-dir={tmp_path / 'new'}"] == ("ok", "will be made")
    assert found[f"--secure-port={free_port}"] == ("ok", "free")
    assert not (tmp_path / "new").exists()


def test_a_port_of_another_process_is_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, found = diagnosed(
            capsys, f"--data-dir={tmp_path}", f"--insecure-port={port}", "--secure-port=0", "--bind-address=192.0.2.1"
        )

    assert code == 1
    assert found[f"--insecure-port={port}"] == ("problem", "another process has the port")
    assert found["--bind-address=192.0.2.1"] == ("problem", "this machine has no such address")


def test_files_of_flags_are_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = tmp_path / "sa.key"
    key.write_text("")
    key.chmod(0o644)

    code, found = diagnosed(
        capsys,
        f"--data-dir={tmp_path}",
        f"--service-account-signing-key-file={key}",
        f"--client-ca-file={tmp_path / 'none'}",
    )

    assert code == 1
    assert found[f"--client-ca-file={tmp_path / 'none'}"] == ("problem", "No such file or directory")
    assert found[f"--service-account-signing-key-file={key}"] == ("warning", "others may read it (mode 644)")


def test_a_damaged_store_and_open_rights_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "store.db").write_bytes(b"no database" * 1000)
    (tmp_path / "lock").touch()

    code, found = diagnosed(capsys, f"--data-dir={tmp_path}")

    assert code == 1
    assert found[f"--data-dir={tmp_path}"] == ("warning", "others may look into it (mode 755)")
    assert found[str(tmp_path / "store.db")][0] == "problem"


def test_certificates_and_the_clock_are_compared(tmp_path: Path) -> None:
    """A certificate of the future and files of the future: the clock has gone back. Near its end it is a warning."""
    settings = Settings(data_dir=tmp_path)
    certificates.ensure(settings.pki_dir, ["localhost"], ManualClock(datetime(2026, 1, 1, tzinfo=UTC).timestamp()))
    ca = str(settings.pki_dir / "ca.crt")

    def severity(when: datetime, subject: str) -> str:
        clock = ManualClock(when.timestamp())
        found = machine_diagnoses.diagnoses(settings, clock, is_serving=False)
        return next(one.severity for one in found if one.subject == subject)

    assert severity(datetime(2025, 1, 1, tzinfo=UTC), ca) == "problem"
    assert severity(datetime(2025, 1, 1, tzinfo=UTC), "clock") == "problem"
    assert severity(datetime(2027, 1, 1, tzinfo=UTC), ca) == "ok"
    assert severity(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=3645), ca) == "warning"
    assert severity(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=3655), ca) == "problem"


@pytest.mark.parametrize(("kind", "severity"), [("nfs4", "problem"), ("fuse.sshfs", "problem"), ("overlay", "warning")])
def test_file_systems_that_do_not_keep_a_store_are_named(
    kind: str, severity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/root / ext4 rw 0 0\nserver:/export {tmp_path} {kind} rw 0 0\n")
    monkeypatch.setattr(store_diagnoses, "_MOUNTS", mounts)

    assert store_diagnoses._of_file_system(tmp_path).severity == severity
    assert store_diagnoses._of_file_system(Path("/")).severity == "ok"


def test_etcds_that_do_not_answer_are_named(tmp_path: Path, free_port: int, capsys: pytest.CaptureFixture[str]) -> None:
    with Member() as member:
        gone = f"http://127.0.0.1:{free_port}"
        code, found = diagnosed(capsys, f"--etcd-servers={member.endpoint},{gone}", f"--data-dir={tmp_path}")

    assert code == 1
    assert found[gone][0] == "problem"
    assert found[member.endpoint][1].startswith("etcd 3.")


def test_a_directory_that_a_process_uses_is_named_with_its_id(tmp_path: Path) -> None:
    fill(tmp_path, {})

    async def subjects() -> list[str]:
        config = StorageConfig(data_dir=tmp_path)
        return [one.message async for one in store_diagnoses.diagnoses(config)]

    assert "no process uses the directory" in asyncio.run(subjects())
