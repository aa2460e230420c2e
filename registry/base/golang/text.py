"""How Go's %v and %#v write values into messages: floats, slices and maps. (Quoted text is in quoting.py.)

Pure. kube-apiserver's messages are made with Go's fmt and strconv, and clients compare them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.golang.quoting import quote


def float_text(value: float) -> str:
    """A float as %v prints it: the shortest form, with an exponent from a million on."""
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
    """The same number, written without one."""
    whole, _, fraction = text.partition(".")
    sign = "-" if whole.startswith("-") else ""
    whole = whole.removeprefix("-")
    digits = (whole + fraction).rstrip("0")
    mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{sign}{mantissa}e{len(whole) - 1:+03d}"


_EXPONENT_FROM = 1e6


_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def parse_bool(text: str) -> bool:
    """A boolean as Go reads one. Raises ValueError."""
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
    if isinstance(value, Mapping):
        return "map[" + " ".join(f"{key}:{value_text(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + " ".join(map(value_text, value)) + "]"
    return str(value)


def quoted(texts: Iterable[str]) -> str:
    """%q of several texts: each in quotes, all in brackets."""
    return f"[{' '.join(map(quote, texts))}]"


def syntax_text(value: Any) -> str:
    """%#v of decoded JSON: as Go's source would have it."""
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
