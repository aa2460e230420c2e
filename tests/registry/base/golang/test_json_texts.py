"""JSON in fields of objects: any text is a value, or an error with Go's words."""

from typing import Any

import pytest

from aio_apiserver.registry.base.golang import json_texts


@pytest.mark.parametrize(
    ("text", "value"), [(b'{"a":[1,null]}', {"a": [1, None]}), (b'"\xff"', "\ufffd"), (rb'"\ud800"', "\ufffd")]
)
def test_a_text_that_go_reads_is_a_value(text: bytes, value: Any) -> None:
    assert json_texts.value_of(text) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{]", "invalid character ']' looking for beginning of object key string"),
        (b"1e999", "json: cannot unmarshal number into Go value of type float64"),
        (b"[" * 255 + b"]" * 255, "exceeded max depth"),
        (b"[" * 5_000 + b"]" * 5_000, "exceeded max depth"),
        (b"[" * 20_000, "invalid character '[' exceeded max depth"),
    ],
)
def test_another_text_is_an_error_of_go(text: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why.replace('[', chr(92) + '[')}"):
        json_texts.value_of(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b'{"a" :\t[1,\r\n "b c"]}', b'{"a":[1,"b c"]}'),
        (b"[" * 300 + b'\n "a b"' + b"]" * 300, b"[" * 300 + b' "a b"' + b"]" * 300),
        (b'["\xff",\n1e999]', b'["\xef\xbf\xbd",1e999]'),
    ],
    ids=["usual", "deep", "infinite"],
)
def test_any_json_is_a_line_of_a_log(text: bytes, line: bytes) -> None:
    assert json_texts.in_one_line(text) == line
