"""Private files: what another user who may write in the folder can do to them, and what failures leave."""

import os
import stat
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from aio_apiserver.base import private_files

STRANGER = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to another user")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("mode", [private_files.PRIVATE, private_files.PUBLIC])
def test_a_file_has_the_mode_that_was_asked_for(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "deep" / "file"

    private_files.put(path, b"one", mode=mode)
    private_files.put(path, b"two", mode=mode)

    assert path.read_bytes() == b"two"
    assert mode_of(path) == mode
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_cannot_be_put_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "inside").touch()

    with pytest.raises(OSError, match="directory"):
        private_files.put(tmp_path / "file", b"x")

    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def begun(path: Path, stack: ExitStack) -> Path:
    """The unfinished file of a file with a secret, which the stack finishes."""
    stack.enter_context(private_files.replacing(path)).write(b"secret")
    (unfinished,) = path.parent.glob(f".{path.name}.*")
    return unfinished


def broken_source() -> bytes:
    raise BrokenPipeError


def a_link(path: Path, target: Path) -> None:
    path.symlink_to(target)


def a_hard_link(path: Path, target: Path) -> None:
    path.hardlink_to(target)


def an_open_file(path: Path, _target: Path) -> None:
    path.touch()
    path.chmod(0o666)


@pytest.mark.parametrize("plant", [a_link, a_hard_link, an_open_file])
def test_what_lies_at_the_path_is_replaced_and_not_written_to(
    tmp_path: Path, plant: Callable[[Path, Path], None]
) -> None:
    target, path = tmp_path / "target", tmp_path / "file"
    target.write_bytes(b"precious")
    plant(path, target)
    before = path.lstat().st_ino

    private_files.put(path, b"secret")

    assert target.read_bytes() == b"precious"
    assert path.read_bytes() == b"secret"
    assert mode_of(path) == 0o600
    assert path.lstat().st_ino != before


def test_a_link_in_place_of_the_unfinished_file_is_noticed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"precious")

    with ExitStack() as stack:
        unfinished = begun(tmp_path / "file", stack)
        unfinished.unlink()
        unfinished.symlink_to(target)
        with pytest.raises(PermissionError, match="file"):
            stack.close()

    assert target.read_bytes() == b"precious"


@needs_root
def test_a_file_of_another_user_in_place_of_the_unfinished_file_is_noticed(tmp_path: Path) -> None:
    with ExitStack() as stack:
        unfinished = begun(tmp_path / "file", stack)
        unfinished.unlink()
        unfinished.write_bytes(b"planted")
        os.chown(unfinished, STRANGER, STRANGER)
        with pytest.raises(PermissionError, match="file"):
            stack.close()


def test_a_device_is_not_replaced() -> None:
    with pytest.raises(FileExistsError, match="/dev/null"):
        private_files.put(Path("/dev/null"), b"secret")

    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_block_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    private_files.put(path, b"old")

    with pytest.raises(BrokenPipeError), private_files.replacing(path) as file:
        file.write(broken_source())

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_names_the_file_and_not_the_unfinished_one(tmp_path: Path) -> None:
    path = tmp_path / "none" / "file"

    with pytest.raises(FileNotFoundError) as caught, private_files.replacing(path):
        pass

    assert (caught.value.filename, caught.value.filename2) == (str(path), None)


def test_the_longest_name_that_a_file_can_have_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 127)

    private_files.put(path, b"secret")

    assert list(tmp_path.iterdir()) == [path]


def test_the_unfinished_files_of_killed_processes_are_removed_after_an_hour(tmp_path: Path) -> None:
    killed, alive, foreign = (
        tmp_path / name for name in (".a[b.aaaaaaaa.unfinished", ".a[b.bbbbbbbb.unfinished", ".a[b")
    )
    for path in (killed, alive, foreign):
        path.touch()
    for path in (killed, foreign):
        os.utime(path, (0, 0))

    private_files.put(tmp_path / "a[b", b"")

    assert sorted(tmp_path.iterdir()) == sorted([alive, foreign, tmp_path / "a[b"])


def test_a_link_of_this_user_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")

    assert private_files.followed(tmp_path / "link") == tmp_path / "target"


@needs_root
def test_a_link_of_another_user_is_neither_followed_nor_appended_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"precious")
    link.symlink_to(target)
    os.chown(link, STRANGER, STRANGER, follow_symlinks=False)

    for use in (private_files.followed, private_files.open_to_append):
        with pytest.raises(PermissionError, match="link"):
            use(link)


@needs_root
def test_a_log_of_another_user_gets_no_line(tmp_path: Path) -> None:
    (tmp_path / "log").touch(0o666)
    os.chown(tmp_path / "log", STRANGER, STRANGER)

    with pytest.raises(PermissionError, match="log"):
        private_files.open_to_append(tmp_path / "log")


def test_a_link_in_place_of_the_lock_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "target"
    (tmp_path / private_files.LOCK_NAME).symlink_to(target)

    with pytest.raises(OSError, match="symbolic links"), private_files.locked(tmp_path):
        pass

    assert not target.exists()
