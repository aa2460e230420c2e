"""The documentation builds as a site, without broken links, and its snippets can be read."""

import asyncio
import json
import os
import re
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aio_apiserver.testing import Refused, Server
from tests.docs import pages

_SNIPPET = re.compile(r"^```(yaml|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_READERS: dict[str, Callable[[str], Any]] = {"yaml": lambda text: list(yaml.safe_load_all(text)), "json": json.loads}


async def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)),
        cwd=pages.PROJECT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stdout=PIPE,
        stderr=STDOUT,
    )
    said, _ = await process.communicate()

    assert (process.returncode, said.decode()) == (0, "")
    assert _names_in(tmp_path / "reference" / "python-api.html", ["assert_none", "wait_for", "admin_token"])
    assert not _names_in(tmp_path / "index.html", ["https://fonts."])


def _names_in(page: Path, names: list[str]) -> bool:
    text = page.read_text()
    return all(name in text for name in names)


@pytest.mark.parametrize("page", pages.DOCUMENTS, ids=lambda page: page.name)
def test_snippets_of_a_page_can_be_read(page: Path) -> None:
    for kind, text in _SNIPPET.findall(page.read_text()):
        assert _READERS[kind](text) is not None


def test_the_definition_of_the_first_steps_refuses_what_the_page_says() -> None:
    page = pages.PROJECT / "docs" / "first-steps.md"
    greeting = {"apiVersion": "example.com/v1", "kind": "Greeting", "metadata": {"name": "one"}, "spec": {}}

    with (
        Server(manifests=pages.files(page)["greetings.yaml"]) as server,
        server.client() as client,
        pytest.raises(Refused, match=r"spec\.name: Required value"),
    ):
        client.request("POST", "/apis/example.com/v1/namespaces/default/greetings", greeting)
