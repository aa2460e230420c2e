"""The guides of those who change this project: a copy of it that follows a page does what the page says."""

import asyncio
import os
import shutil
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

import pytest

from tests.docs import pages

GUIDES = ("add-a-kind", "add-an-admission-plugin")
CHANGED = "registry"
"""The folder that the guides change; a copy shares the others."""


def copy_of_the_project(folder: Path) -> Path:
    """A folder to import aio_apiserver from, which may be changed."""
    package = folder / "aio_apiserver"
    package.mkdir()
    for source in (pages.PROJECT / "src" / "aio_apiserver").iterdir():
        if source.name == CHANGED:
            shutil.copytree(source, package / source.name)
        else:
            (package / source.name).symlink_to(source.resolve())
    return package


def changed(text: str, change: str) -> str:
    """A text with the lines of a diff without places: each hunk begins at the next line that is there."""
    lines, at = text.splitlines(), 0
    for line in change.splitlines():
        mark, content = line[:1], line[1:]
        if mark == "+":
            lines.insert(at, content)
            at += 1
        else:
            at = lines.index(content, at)
            if mark == "-":
                del lines[at]
            else:
                at += 1
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("guide", GUIDES)
async def test_who_follows_a_guide_is_served(guide: str, tmp_path: Path) -> None:
    package = copy_of_the_project(tmp_path)
    for name, content in pages.files(pages.PROJECT / "docs" / f"{guide}.md").items():
        file = tmp_path / name if name.startswith("test_") else package / name
        file.write_text(changed(file.read_text(), content) if file.exists() else content)

    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    process = await asyncio.create_subprocess_exec(*command, cwd=tmp_path, env=environment, stdout=PIPE, stderr=STDOUT)
    said, _ = await process.communicate()

    assert process.returncode == 0, said.decode()


def test_a_change_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="is not in list"):
        changed("a\nb\n", " c\n+d\n")
