"""Binary: base64 as Go's decoder reads it, and the positions in its errors."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aio_apiserver.registry.machinery.schema import DecodeError, binary


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("", ""), ("QUI=", "QUI="), ("QR==", "QQ=="), ("QU\nI=\r\n", "QUI="), ("QQ=\n=", "QQ=="), ("QUJD\n", "QUJD")],
)
def test_stray_bits_and_line_breaks_are_gone(text: str, canonical: str) -> None:
    assert binary.canonical(text) == canonical


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("v", 0),
        ("%%%", 0),
        ("QQ", 0),
        ("QUJDQQ", 4),
        ("=", 0),
        ("Q===", 1),
        ("QQ=", 3),
        ("QQ=x", 2),
        ("QQ==x", 4),
        ("QUJD==", 4),
        ("QUJD====", 4),
        ("QUI==", 4),
        ("QUJD!", 4),
        ("QU_D", 2),
        ("QUJDü", 4),
    ],
)
def test_broken_texts_name_the_byte(text: str, at: int) -> None:
    with pytest.raises(DecodeError) as refusal:
        binary.canonical(text)

    assert refusal.value.message == f"illegal base64 data at input byte {at}"


@given(st.binary())
@settings(deadline=None)
def test_what_base64_writes_stays(data: bytes) -> None:
    text = base64.b64encode(data).decode()

    assert binary.canonical(text) == text
