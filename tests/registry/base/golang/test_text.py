"""Text: Go's text of values in messages."""

import pytest

from aio_apiserver.registry.base.golang import text as gotext


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (3.0, "3"),
        (-1.5, "-1.5"),
        (123456.7, "123456.7"),
        (1e5, "100000"),
        (1e6, "1e+06"),
        (-1500000.5, "-1.5000005e+06"),
        (123456789012.0, "1.23456789012e+11"),
        (1e20, "1e+20"),
        (1e22, "1e+22"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1.5e-7, "1.5e-07"),
        (float("inf"), "+Inf"),
        (float("nan"), "NaN"),
    ],
)
def test_floats_have_an_exponent_from_a_million_on(value: float, text: str) -> None:
    assert gotext.float_text(value) == text


def test_a_whole_number_beyond_64_bits_is_shown_as_a_float() -> None:
    assert gotext.value_text(2**63) == "9.223372036854776e+18"
    assert gotext.value_text(2**63 - 1) == "9223372036854775807"
