"""The command scripts/generate: what it reads, and what it refuses."""

import subprocess
from pathlib import Path

import pytest

from aio_apiserver.registry.base.timeline import PATCHES
from scripts.upstream import trees
from scripts.upstream.__main__ import main
from scripts.upstream.problems import Unusable


def clone_of(folder: Path, **files: str) -> Path:
    """A git repository with a tag v1.0.0 of these files, and none of them in its work tree."""
    for name, text in files.items():
        (folder / name).write_text(text)
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for command in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "a"), ("tag", "v1.0.0")):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    for name in files:
        (folder / name).unlink()
    return folder


def test_an_unknown_minor_names_the_step_that_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kubernetes-source", str(tmp_path), "--minor", "1.99"]) == 1

    assert "add the release of 1.99 to PATCHES in registry/base/timeline.py" in capsys.readouterr().err


def test_a_folder_without_tags_needs_the_minor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kubernetes-source", str(tmp_path)]) == 1

    assert "is no git clone: say with --minor which release it is" in capsys.readouterr().err


def test_a_clone_without_the_tag_of_a_release_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clone_of(tmp_path, a="a")

    assert main(["--kubernetes-source", str(tmp_path), "--check"]) == 1

    assert f"has no tag {min(PATCHES.values())}" in capsys.readouterr().err


def test_a_tag_of_a_clone_is_read_without_a_work_tree(tmp_path: Path) -> None:
    tree = trees.opened(clone_of(tmp_path, first="text\n", second="é"), "v1.0.0")
    try:
        assert tree.paths == ["first", "second"]
        assert [tree.read(path) for path in tree.paths] == ["text\n", "é"]
        with pytest.raises(Unusable, match=r"has no file third at v1\.0\.0"):
            tree.read("third")
        assert tree.read("first") == "text\n"
    finally:
        tree.close()


def test_a_folder_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.go").write_text("package pkg\n")

    tree = trees.opened(tmp_path, "v1.0.0")

    assert [tree.read(path) for path in tree.paths] == ["package pkg\n"]
    with pytest.raises(Unusable, match="cannot be read: No such file"):
        tree.read("b.go")
