"""Characters that are none, in JSON texts."""

import pytest

from aio_apiserver.registry.base.golang import json_characters

LOST = b"\\ufffd"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (rb'"a\ud83d\ude00"', rb'"a\ud83d\ude00"'),
        (rb'"\ud800"', b'"' + LOST + b'"'),
        (rb'"\uDC00x"', b'"' + LOST + b'x"'),
        (rb'"\ud800\ud800\udc00"', b'"' + LOST + rb'\ud800\udc00"'),
        (rb'"\udc00\udc00"', b'"' + LOST * 2 + b'"'),
        (rb'"\u0041\udc00"', rb'"\u0041' + LOST + b'"'),
        (rb'"\\ud800"', rb'"\\ud800"'),
        (rb'"\\\ud800"', rb'"\\' + LOST + b'"'),
        ("\u00e9".encode(), "\u00e9".encode()),
        (b'"\xff\xe2\x82"', '"\ufffd\ufffd\ufffd"'.encode()),
        (b"nothing", b"nothing"),
    ],
)
def test_what_is_no_character_is_read_as_another(text: bytes, read: bytes) -> None:
    assert json_characters.readable(text) == read
