from pathlib import Path

import pytest

from aio_apiserver.apiserver.tls import files


@pytest.mark.parametrize("mode", [files.PRIVATE, files.PUBLIC])
def test_a_file_has_the_mode_that_was_asked_for(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "deep" / "file"

    files.put(path, b"one", mode=mode)
    files.put(path, b"two", mode=mode)

    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == mode
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_cannot_be_put_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "inside").touch()

    with pytest.raises(OSError, match="directory"):
        files.put(tmp_path / "file", b"x")

    assert [path.name for path in tmp_path.iterdir()] == ["file"]
