"""Quantities: what stays as it is, what is rewritten, what is refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.machinery.schema import DecodeError

FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX = "unable to parse quantity's suffix"

written = st.from_regex(r"[+-]?[0-9]{0,20}(\.[0-9]{0,20})?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?", fullmatch=True)


@pytest.mark.parametrize("text", ["0", "1", "+1", "1E3", "1e3", "100m", "1Gi", "1536Mi", "100Mi", "1.", "12e6", "-5"])
def test_canonical_texts_stay(text: str) -> None:
    assert quantity.canonical(text) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1.5k", "1500"),
        ("1000", "1k"),
        ("1000m", "1"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("0.1Gi", "107374182400m"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("1024Mi", "1Gi"),
        ("8Gi", "8Gi"),
        ("-0.5Gi", "-512Mi"),
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("00", "0"),
        ("0m", "0"),
        (".", "0"),
        ("-", "0"),
        ("1000e-3", "1"),
        ("9Ei", "9223372036854775807"),
        ("1000E", "1"),
        ("12345678901234567890", "12345678901234567890"),
    ],
)
def test_other_texts_are_rewritten(text: str, canonical: str) -> None:
    assert quantity.canonical(text) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *[(text, FORMAT) for text in ("", "abc", "1x", "1.2.3", "1 Gi", "1MI", "0x10", "true", "[]", "½")],
        *[(text, SUFFIX) for text in ("1mi", "--1", "1e", "1K", "1e99999999999")],
        ("1" * 5000, "unable to parse numeric part of quantity"),
    ],
)
def test_texts_that_are_no_quantities_are_refused(text: str, message: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        quantity.parse(text)

    assert refusal.value.message == message


@pytest.mark.parametrize(
    ("text", "rounded"), [("100n", "1m"), ("1.0001", "1001m"), ("1E3", "1E3"), ("0", "0"), ("-1u", "-1m")]
)
def test_resources_are_rounded_up_to_a_milli(text: str, rounded: str) -> None:
    assert quantity.rounded_up(text, quantity.MILLI) == rounded


@given(written)
@settings(deadline=None)
def test_canonical_text_is_its_own_canonical_text(text: str) -> None:
    canonical = quantity.canonical(text or "0")

    assert quantity.canonical(canonical) == canonical


@given(written)
@settings(deadline=None)
def test_canonical_text_has_the_same_value_unless_it_is_out_of_range(text: str) -> None:
    before = quantity.parse(text or "0")
    after = quantity.parse(str(before))

    assert after.nanos == before.nanos or abs(before.nanos) >= 10**27
