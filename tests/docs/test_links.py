import re
from pathlib import Path

import pytest

from tests.docs import pages

_PATH = re.compile(r"`((?:apiserver|controllers|registry|storage|tests|docs|scripts|src)/[\w/.*-]+)`")
"""A file or folder of the project, as a page names it."""


@pytest.mark.parametrize("page", pages.DOCUMENTS, ids=lambda page: page.name)
def test_what_a_document_points_at_is_there(page: Path) -> None:
    missing = []
    for link in pages.links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in pages.anchors(target)):
            missing.append(link)

    assert not missing


@pytest.mark.parametrize("page", pages.DOCUMENTS, ids=lambda page: page.name)
def test_a_file_that_a_document_names_exists(page: Path) -> None:
    named = set(_PATH.findall(page.read_text()))

    assert [path for path in sorted(named) if not any(pages.PROJECT.glob(path.rstrip("/")))] == []
