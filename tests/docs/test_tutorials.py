"""Tutorials: the files that a page shows are a green test. Those in a folder have a test of their own."""

import asyncio
import sys
from asyncio.subprocess import PIPE, STDOUT
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.docs import pages

IS_INSTALLED = bool(entry_points(group="pytest11", name="apiserver"))
PLUGIN = () if IS_INSTALLED else ("-p", "aio_apiserver.testing.plugin")
WITHOUT_PYTHON = {"README.md", "controller-runtime.md"}
PAGES = [
    pages.PROJECT / "docs" / "testing.md",
    *(page for page in sorted(pages.TUTORIALS.glob("*.md")) if page.name not in WITHOUT_PYTHON),
]


@pytest.mark.timeout(400)  # a whole run of pytest, with servers
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
async def test_a_page_ends_with_a_green_test(page: Path, tmp_path: Path) -> None:
    shown = {name: content for name, content in pages.files(page).items() if "/" not in name}
    for name, content in shown.items():
        (tmp_path / name).write_text(content)

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "-q", *PLUGIN), cwd=tmp_path, stdout=PIPE, stderr=STDOUT
    )
    said, _ = await process.communicate()

    assert any(name.startswith("test_") for name in shown)
    assert process.returncode == 0, said.decode()


def test_every_tutorial_is_in_the_list() -> None:
    listed = set(pages.links(pages.TUTORIALS / "README.md"))

    assert {page.name for page in pages.TUTORIALS.glob("*.md")} - {"README.md"} <= listed
