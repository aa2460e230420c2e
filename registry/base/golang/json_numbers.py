"""Numbers of JSON, in the texts that Go gives them.

Must hold: a Literal is a float that also knows how it was written, which a message or a quantity may depend on; it
never gets into an object.
"""

import math
from typing import Any

_LEAST, _LARGEST = -(2**63), 2**64 - 1
_MAX_BITS = 4096
"""Python refuses to write integers that are much longer; no JSON of a client is read into one."""


class Literal(float):
    """A number with a fraction or an exponent (or one that is too long for an integer), as the text has it."""

    text: str

    @classmethod
    def of(cls, text: str) -> "Literal":
        literal = cls(text)
        literal.text = text
        return literal


def text(value: int | float) -> str:
    """An int or float as JSON."""
    if isinstance(value, Literal):
        return value.text
    if isinstance(value, float):
        return _float_text(value)
    return str(value) if value.bit_length() < _MAX_BITS else f"1e+{value.bit_length() * 3 // 10}"


def fits_float64(value: int | float) -> bool:
    """Whether a number of JSON is one that a float64 can hold."""
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
    """A copy of any JSON in which every Literal is a number again."""
    if isinstance(value, dict):
        return {key: without_literals(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_literals(item) for item in value]
    return float(value) if isinstance(value, Literal) else value
