"""The pages have short sentences, and their actors have names."""

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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_plain(page: Path) -> None:
    sentences = list(words.sentences(_NO_PROSE.sub("", page.read_text())))

    assert [one for one in sentences if len(one.split()) > words.MOST_WORDS] == []
    assert [one for one in sentences if words.NAMELESS.search(one)] == []
