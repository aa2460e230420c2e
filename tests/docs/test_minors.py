"""The steps that add a minor: who follows them has a server of the minor, and each left-out step is named."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aio_apiserver.registry.base.timeline import DEFAULT, PATCHES, text_of
from tests.docs import made_up_minor, pages
from tests.docs.test_guides import changed, copy_of_the_project
from tests.paths import ROOT

PAGE = ROOT / "docs" / "minors.md"
RELEASE, KINDS = "registry/base/timeline.py", "registry/groups/node/"
TEST = "test_minor.py"
_ROW = re.compile(r"^\| (1\.\d+) \| (v\S+) \| (.*) \|$", re.MULTILINE)
_CHECK = """
from aio_apiserver.registry.base import minors
from aio_apiserver.registry.controlplane import completeness, providers

minor = minors.parse("1.38")
completeness.check(minor, providers.providers_of(minor))
"""


class Copy:
    """A copy of the project that takes the steps one by one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._package = copy_of_the_project(folder)
        (self._package / "scripts").symlink_to(ROOT / "scripts")
        self._files = pages.files(PAGE)

    def take_definitions(self) -> None:
        made_up_minor.install_definitions(self._folder)

    def take_files(self, prefix: str) -> None:
        """Change the files of the page whose names begin so."""
        for name, content in self._files.items():
            if name.startswith(prefix):
                file = (self._folder if name == TEST else self._package) / name
                file.write_text(changed(file.read_text(), content) if file.exists() else content)

    def take_tables(self) -> str:
        """Run the generator on the sources of the minor."""
        sources = self._folder / "sources"
        made_up_minor.write_sources(sources)
        arguments = ("--kubernetes-source", str(sources), "--minor", made_up_minor.MINOR)
        return self.run("-m", "scripts.upstream", *arguments)

    def run(self, *arguments: str) -> str:
        """Run Python in the copy. Returns what it prints, and at the end its exit code."""
        command = [sys.executable, *arguments]
        environment = {**os.environ, "PYTHONPATH": str(self._folder)}
        answer = subprocess.run(
            command, cwd=self._package, env=environment, capture_output=True, text=True, check=False
        )
        return f"{answer.stdout}{answer.stderr}\nexit code {answer.returncode}"


def test_the_steps_make_the_minor_and_a_left_out_one_is_named(tmp_path: Path) -> None:
    copy = Copy(tmp_path)

    assert '(docs/minors.md, "The release")' in copy.run("-c", _CHECK)
    copy.take_files(RELEASE)

    assert '(docs/minors.md, "The definitions")' in copy.run("-c", _CHECK)
    copy.take_definitions()

    lost = 'io.k8s.api.core.v1.ConfigMap.origin has no protobuf number (docs/minors.md, "The tables")'
    assert lost in copy.run("-c", _CHECK)
    assert "+ feature gates 1.38: WidgetRollout" in copy.take_tables()

    undeclared = 'Widget of node.k8s.io/v1 is not declared (docs/minors.md, "The kinds")'
    assert undeclared in copy.run("-c", _CHECK)
    copy.take_files(KINDS)
    copy.take_files(TEST)

    assert "6 passed" in copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / TEST))


@pytest.mark.parametrize("minor", PATCHES)
def test_a_minor_has_a_row_and_recordings_if_the_row_says_so(minor: tuple[int, int]) -> None:
    rows = {name: (release, facts) for name, release, facts in _ROW.findall(PAGE.read_text())}
    release, facts = rows.get(text_of(minor), ("", ""))
    has_recordings = minor == DEFAULT or (ROOT / "tests" / "golden" / "versions" / text_of(minor)).is_dir()

    assert release == PATCHES[minor], 'docs/minors.md has another row for the minor ("The recordings")'
    assert ("recordings" in facts) is has_recordings, '"The recordings"'


def test_the_default_is_the_newest_minor_with_a_final_release() -> None:
    final = [minor for minor, release in PATCHES.items() if "-" not in release]

    assert max(final) == DEFAULT, 'docs/minors.md, "The default"'
