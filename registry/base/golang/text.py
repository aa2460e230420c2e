"""Text: how Go's fmt writes values with %v, %q and %#v (quoting.py has a single quoted text).

Pure. kube-apiserver makes its messages with fmt and strconv, and clients compare them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.golang.quoting import quote


def float_text(value: float) -> str:
    """A float as %v prints it: the shortest text, with an exponent from a million upwards."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    text = repr(value).removesuffix(".0")
    mantissa, found, exponent = text.partition("e")
    if found:
        return f"{mantissa}e{int(exponent):+03d}"
    return text if abs(value) < _EXPONENT_FROM else _with_exponent(text)


def _with_exponent(text: str) -> str:
    """The same number, written with an exponent."""
    whole, _, fraction = text.partition(".")
    sign = "-" if whole.startswith("-") else ""
    whole = whole.removeprefix("-")
    digits = (whole + fraction).rstrip("0")
    mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{sign}{mantissa}e{len(whole) - 1:+03d}"


_EXPONENT_FROM = 1e6
MOST_INT64 = 2**63 - 1
"""The largest whole number that stays one in decoded JSON. Go makes a float of a larger one."""


_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def parse_bool(text: str) -> bool:
    """A boolean, read as strconv.ParseBool reads it. Raises ValueError."""
    if text not in _BOOLEANS:
        raise ValueError(f"strconv.ParseBool: parsing {quote(text)}: invalid syntax")
    return _BOOLEANS[text]


def value_text(value: Any) -> str:
    """%v of decoded JSON: slices in brackets, maps as `map[key:value]` in the order of their keys."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, int) and value > MOST_INT64:
        return float_text(float(value))
    if isinstance(value, Mapping):
        return "map[" + " ".join(f"{key}:{value_text(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + " ".join(map(value_text, value)) + "]"
    return str(value)


def quoted(texts: Iterable[str]) -> str:
    """%q of several texts: each in quotes, all of them in brackets."""
    return f"[{' '.join(map(quote, texts))}]"


def syntax_text(value: Any) -> str:
    """%#v of decoded JSON: the text of a Go literal."""
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Mapping):
        members = ", ".join(f"{quote(key)}:{syntax_text(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{members}}}"
    if isinstance(value, Sequence):
        return f"[]interface {{}}{{{', '.join(map(syntax_text, value))}}}"
    return value_text(value)
