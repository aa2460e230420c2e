"""JSON numbers: numbers of a client's JSON that remember their text, and Go's text of a number.

Must hold: a Literal is a float with its original text, for messages and quantities. Objects hold plain numbers instead.
"""

import math
from typing import Any

_LEAST, _LARGEST = -(2**63), 2**64 - 1
_MAX_BITS = 4096
"""Python refuses to print integers that are much longer. The decoder reads none that long."""


class Literal(float):
    """A number with a fraction or an exponent, or too long for an integer, with the text that the client sent."""

    text: str

    @classmethod
    def of(cls, text: str) -> "Literal":
        literal = cls(text)
        literal.text = text
        return literal


def text(value: int | float) -> str:
    """An int or float as Go writes it in JSON."""
    if isinstance(value, Literal):
        return value.text
    if isinstance(value, float):
        return _float_text(value)
    return str(value) if value.bit_length() < _MAX_BITS else f"1e+{value.bit_length() * 3 // 10}"


def fits_float64(value: int | float) -> bool:
    """Whether a float64 can hold the number."""
    return math.isfinite(value) if isinstance(value, float) else value.bit_length() < 1024


def plain(value: int | float) -> int | float:
    """A number of an object: a whole one has no fraction, as far as 64 bits hold it; nothing writes larger integers."""
    whole = _whole(value)
    return whole if isinstance(whole, int) and _LEAST <= whole <= _LARGEST else float(whole)


def _whole(value: int | float) -> int | float:
    """A number as Go prints it: a whole one has no fraction."""
    is_whole = fits_float64(value) and value == int(value) and abs(value) < 1e21
    return int(value) if is_whole or isinstance(value, int) else float(value)


def _float_text(value: float) -> str:
    whole = _whole(value)
    if isinstance(whole, int):
        return str(whole)
    mantissa, found, exponent = repr(value).partition("e")
    if not found:
        return mantissa
    if -7 < int(exponent) < 0:
        return f"{value:.{len(mantissa.replace('.', '').lstrip('-')) - int(exponent) - 1}f}"
    return f"{mantissa}e{int(exponent):+d}"


def without_literals(value: Any) -> Any:
    """A copy of decoded JSON with a plain float for every Literal."""
    if isinstance(value, dict):
        return {key: without_literals(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_literals(item) for item in value]
    return float(value) if isinstance(value, Literal) else value
