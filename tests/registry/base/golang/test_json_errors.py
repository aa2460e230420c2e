"""JSON errors: Go's messages for invalid JSON."""

import json
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aio_apiserver.registry.base.golang import json_errors

PIECES = st.sampled_from(
    (*'{}[],:"\\n0-1.e+ \t\né\x00\x1fx', "u00e9", "true", "false", "null", "tru", '"a"', '"b":', "NaN", "Infinity")
)


def is_json(text: str) -> bool:
    """Whether Python parses it, without the constants that JSON lacks."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


@settings(max_examples=1000, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_exactly_what_is_no_json_is_described(text: str) -> None:
    message = json_errors.describe(text.encode())

    assert (message == "") == is_json(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "unexpected end of JSON input"),
        (b'{"a": ', "unexpected end of JSON input"),
        (b"{a}", "invalid character 'a' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a": 1 "b"}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b"{} x", "invalid character 'x' after top-level value"),
        (b"nul", "invalid character ' ' in literal null (expecting 'l')"),
        (b'{"a":-', "invalid character ' ' in numeric literal"),
        (b'{"a":1.', "invalid character ' ' after decimal point in numeric literal"),
        (b"1e", "invalid character ' ' in exponent of numeric literal"),
        (b'"\\', "invalid character ' ' in string escape code"),
        (b'"\\u1', "invalid character ' ' in \\u hexadecimal character escape"),
        (b'"abc', "unexpected end of JSON input"),
        (b"[1", "unexpected end of JSON input"),
        (b"nux", "invalid character 'x' in literal null (expecting 'l')"),
        (b"01", "invalid character '1' after top-level value"),
        (b"-a", "invalid character 'a' in numeric literal"),
        (b"1.a", "invalid character 'a' after decimal point in numeric literal"),
        (b"1ea", "invalid character 'a' in exponent of numeric literal"),
        (b'"\n"', "invalid character '\\n' in string literal"),
        (b'"\\x"', "invalid character 'x' in string escape code"),
        (b'"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b"\xc3\xa9", "invalid character 'Ã' looking for beginning of value"),
        (b"[" * 10_001, "invalid character '[' exceeded max depth"),
        (b"[" * 10_000 + b"{}", "invalid character '{' exceeded max depth"),
    ],
)
def test_the_first_mistake_is_told(text: bytes, message: str) -> None:
    assert json_errors.describe(text) == message
