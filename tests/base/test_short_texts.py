"""Short texts: the beginning of a text, and keys of one length for long texts."""

from sys import getsizeof

import pytest

from aio_apiserver.base import short_texts


@pytest.mark.parametrize(
    ("text", "beginning"),
    [("abc", "abc"), ("abcd", "abc…"), ("", ""), ("äöü", "äöü"), ("a\udcff", "a?"), ("\ud800", "?")],
)
def test_the_beginning_of_a_text_is_valid_utf_8(text: str, beginning: str) -> None:
    assert short_texts.cut(text, 3) == beginning


def test_a_short_text_is_its_own_key() -> None:
    assert short_texts.key_of("jane") == "jane"


def test_keys_of_long_texts_differ_and_are_short() -> None:
    texts = ["x" * 1000, "x" * 1001, "x" * 1000 + "\udcff", "x" * 1000 + "\ud800"]

    keys = {short_texts.key_of(text) for text in texts}

    assert len(keys) == 4
    assert max(map(getsizeof, keys)) < 200
