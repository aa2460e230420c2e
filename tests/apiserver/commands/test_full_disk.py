"""Commands and a full disk: the message names the file, no half file is left, and a store at rest is read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aio_apiserver.apiserver import command
from tests.apiserver.commands.conftest import EmbeddedServer
from tests.apiserver.commands.stores import an_object, fill
from tests.storage.kv import small_disk

FULL = "No space left on device (the disk is full; free some space or choose another one)"
OBJECTS = {f"configmaps/default/{name}": an_object("ConfigMap", name) for name in ("a", "b")}


@pytest.fixture(scope="module", autouse=True)
def _needs_a_mount() -> None:
    if not small_disk.may_mount():
        pytest.skip("this user may not mount a small disk")


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A full disk with a store that no server uses."""
    mount_point = tmp_path / "disk"
    mount_point.mkdir()
    with small_disk.mounted(mount_point, megabytes=4):
        fill(mount_point / "data", OBJECTS)
        small_disk.fill(mount_point / "ballast", room=0)
        yield mount_point


@pytest.mark.parametrize(
    ("arguments", "named"),
    [("backup @new", "@new"), ("kubeconfig --merge @new", "@new")],
)
def test_the_file_that_has_no_room_is_named(
    arguments: str, named: str, embedded: EmbeddedServer, full_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(full_disk.iterdir())
    place = f"{full_disk}/"

    assert command.run([*arguments.replace("@", place).split(), embedded.store]) == 1

    assert capsys.readouterr().err == f"Error: {named.replace('@', place)}: {FULL}\n"
    assert sorted(full_disk.iterdir()) == before


def test_a_store_that_no_server_uses_can_be_saved(
    full_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backup, new = str(tmp_path / "saved"), tmp_path / "new"

    assert command.run(["backup", backup, f"--data-dir={full_disk / 'data'}"]) == 0, capsys.readouterr().err
    assert command.run(["restore", backup, f"--data-dir={new}"]) == 0

    capsys.readouterr()
    assert command.run(["inspect", "configmaps", f"--data-dir={new}"]) == 0
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()] == ["NAME", "a", "b"]


def test_a_store_on_a_read_only_disk_is_migrated(
    full_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_disk.make_read_only(full_disk)

    assert command.run(["migrate", f"--data-dir={full_disk / 'data'}", f"--to-data-dir={tmp_path / 'new'}"]) == 0

    assert capsys.readouterr().out == "2 keys written; 2 keys are equal on both sides\n"
