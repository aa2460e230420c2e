"""The pages have short sentences and lines, and their actors have names."""

import re
from pathlib import Path

import pytest

from tests.docs import pages
from tests.house import words

GENERATED = {"flags.md", "metrics.md"}
"""Tables with kube-apiserver's help texts."""
PAGES = [page for page in pages.DOCUMENTS if page.name not in GENERATED]
_NO_PROSE = re.compile(r"^```.*?^```$\n?|^(?:\||    |#)[^\n]*$\n?|\]\([^)]*\)", re.MULTILINE | re.DOTALL)
"""Code, tables, headings and the targets of links."""
_LONGEST_LINE = 140
"""Of prose, without the targets of links."""


def prose(page: Path) -> str:
    """The sentences of a page."""
    return _NO_PROSE.sub("", page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_plain(page: Path) -> None:
    sentences = list(words.sentences(prose(page)))

    assert [one for one in sentences if len(one.split()) > words.MOST_WORDS] == []
    assert [one for one in sentences if words.NAMELESS.search(one)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_of_prose_fit_an_editor(page: Path) -> None:
    lines = prose(page).splitlines()

    assert [line for line in lines if len(line) > _LONGEST_LINE] == []
