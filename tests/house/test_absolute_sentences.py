"""Absolute sentences: a header or page that says only, never, always, one place or nothing else names what holds it.

absolute_sentences.txt has the tests and contracts. A sentence without one loses the word.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.docs import pages
from tests.docs.test_words import PAGES, prose
from tests.house import words
from tests.paths import ROOT

_ABSOLUTE = re.compile(r"(?<!`)\b(only|never|always|one place|nothing else)\b", re.IGNORECASE)
_CONTRACT = "contract: "


class Row(NamedTuple):
    """A sentence, by its file and beginning, and the test or contract that holds it."""

    path: str
    beginning: str
    holder: str

    def is_about(self, path: str, sentence: str) -> bool:
        return path == self.path and sentence.startswith(self.beginning)


ROWS = [Row(*row.split(" | ")) for row in words.rows("absolute_sentences.txt")]


def _sentences() -> Iterator[tuple[str, str]]:
    for path in words.files():
        yield from ((str(path), one) for one in words.sentences(words.header(path)) if _ABSOLUTE.search(one))
    for page in PAGES:
        if page.name != "CHANGELOG.md":
            name = str(page.relative_to(pages.PROJECT))
            yield from ((name, one) for one in words.sentences(prose(page)) if _ABSOLUTE.search(one))


SENTENCES = list(_sentences())


def test_an_absolute_sentence_has_a_test_or_contract() -> None:
    loose = [one for one in SENTENCES if not any(row.is_about(*one) for row in ROWS)]

    assert not loose, f"name in absolute_sentences.txt what holds it, or take the word out: {loose}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path)
def test_a_row_is_about_a_sentence_and_names_what_exists(row: Row) -> None:
    assert any(row.is_about(*one) for one in SENTENCES), "no header or page has this sentence any more"
    if row.holder.startswith(_CONTRACT):
        assert f'name = "{row.holder.removeprefix(_CONTRACT)}"' in (ROOT / "pyproject.toml").read_text()
    else:
        path, _, name = row.holder.partition("::")
        assert re.search(rf"^ *(async )?def {name}\(", (ROOT / path).read_text(), re.MULTILINE)
