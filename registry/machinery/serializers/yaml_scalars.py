"""yaml_scalars: reads and writes YAML's scalars and keys as Go's YAML library does.

Pure. Must hold: a text that is written without quotes is read as the same text. Keys are in natural order: numbers in a
key count as numbers.
"""

import base64
import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

_PREFIX = "tag:yaml.org,2002:"
TEXT, BOOLEAN, INTEGER, FLOAT = (_PREFIX + name for name in ("str", "bool", "int", "float"))
NULL, MERGE, TIMESTAMP, _BINARY = (_PREFIX + name for name in ("null", "merge", "timestamp", "binary"))
IGNORED_TAGS = (None, MERGE, *(_PREFIX + name for name in ("map", "seq", "set", "omap", "pairs")))
"""Ignored tags; None is any unknown tag."""

_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_SPECIAL = {
    f"{sign}.{name}": sign + word
    for word, names, signs in (("nan", ("nan", "NaN", "NAN"), ("",)), ("inf", ("inf", "Inf", "INF"), ("", "+", "-")))
    for name in names
    for sign in signs
}
_SPECIAL_TEXTS = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}
_NAMED: Mapping[str, str] = {
    **dict.fromkeys(_TRUE | _FALSE, BOOLEAN),
    **dict.fromkeys(_NULLS, NULL),
    **dict.fromkeys(_SPECIAL, FLOAT),
    "<<": MERGE,
}
_MAY_BE_NUMBER = re.compile(r"[-+.0-9]")
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?", re.ASCII)
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?(?:Z|[-+]\d\d:\d\d))"
    r"|(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?))?",
    re.ASCII,
)
_MAX_UINT64 = 2**64 - 1
_SURELY_FITS = 64
"""Digits: 16**62 is far below the largest float64."""
_BASES = {"0x": 16, "0o": 8, "0b": 2}


def tag_of(text: str) -> str:
    """The tag of a scalar without quotes."""
    named = _NAMED.get(text)
    if named is not None:
        return named
    if not _MAY_BE_NUMBER.match(text):
        return TEXT
    if _is_timestamp(text):
        return TIMESTAMP
    plain = text.replace("_", "")
    if _INTEGER.fullmatch(plain):
        return INTEGER if len(plain) <= _SURELY_FITS or _fits(plain) else TEXT
    return FLOAT if _FLOAT.fullmatch(plain) and math.isfinite(float(plain)) else TEXT


def _fits(text: str) -> bool:
    """Whether a float64 can hold an integer: Go reads longer ones as texts."""
    try:
        _integer(text)
    except (OverflowError, ValueError):
        return False
    return True


def is_plain_text(text: str) -> bool:
    """Whether a text is read as text without quotes."""
    return tag_of(text) == TEXT and not _BASE_60.fullmatch(text)


def written(value: Any) -> str:
    """The text of a scalar that is not a text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _float_text(value)


def compare_keys(one: str, other: str) -> int:
    """Compare two keys: letters after other characters, runs of digits by their value."""
    at = next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), None)
    if at is None:
        return len(one) - len(other)
    left, right = one[at], other[at]
    if left.isalpha() != right.isalpha():
        return left.isalpha() - right.isalpha()
    if left.isalpha():
        return ord(left) - ord(right)
    lead = "1" if "0" in (left, right) and _digits_before(one, at).strip("0") else ""
    left_digits, right_digits = _digits_at(one, at), _digits_at(other, at)
    difference = int(lead + left_digits or "0") - int(lead + right_digits or "0")
    return difference or len(left_digits) - len(right_digits) or ord(left) - ord(right)


def _digits_before(text: str, at: int) -> str:
    start = at
    while start and text[start - 1].isdecimal():
        start -= 1
    return text[start:at]


def _digits_at(text: str, at: int) -> str:
    end = at
    while end < len(text) and text[end].isdecimal():
        end += 1
    return text[at:end]


def _is_timestamp(text: str) -> bool:
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return False
    try:
        year, month, day, *time = (int(part) for part in match.groups() if part)
        datetime(year, month, day, *time)  # type: ignore[arg-type] # three numbers or none; it checks ranges
    except ValueError:
        return False
    return True


def _boolean(text: str) -> bool:
    return text in _TRUE


def _nothing(_text: str) -> None:
    return None


def _integer(text: str) -> int | float:
    plain = text.replace("_", "").lower()
    sign, digits = (plain[0], plain[1:]) if plain[0] in "+-" else ("", plain)
    base = _BASES.get(digits[:2]) or (8 if digits[0] == "0" and len(digits) > 1 else 10)
    number = int(sign + digits, base)
    # Beyond 64 bits Go uses floats.
    return number if -(2**63) <= number <= _MAX_UINT64 else float(number)


def _float(text: str) -> float:
    return float(_SPECIAL.get(text, text.replace("_", "")))


def _as_said(tag: str, read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reader of scalars with an explicit tag, which may not fit the text."""
    fitting = {tag, INTEGER} if tag == FLOAT else {tag}

    def read_fitting(text: str) -> Any:
        found = tag_of(text)
        if found not in fitting:
            raise ValueError(f"yaml: cannot decode {_short(found)} `{text}` as a {_short(tag)}")
        return read(text)

    return read_fitting


def _short(tag: str) -> str:
    return tag.replace(_PREFIX, "!!")


def _binary(text: str) -> str:
    try:
        return base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True).decode(errors="replace")
    except ValueError as exc:
        raise ValueError("yaml: !!binary value contains invalid base64 data") from exc


READERS: Mapping[str, Callable[[str], Any]] = {
    _BINARY: _binary,
    BOOLEAN: _as_said(BOOLEAN, _boolean),
    NULL: _as_said(NULL, _nothing),
    INTEGER: _as_said(INTEGER, _integer),
    FLOAT: _as_said(FLOAT, _float),
    TIMESTAMP: _as_said(TIMESTAMP, str),
}
"""Readers of scalars by tag."""


def _float_text(value: float) -> str:
    if not math.isfinite(value):
        return _SPECIAL_TEXTS[str(value)]
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    exponent = math.floor(math.log10(abs(value)))
    if -4 <= exponent < 21:
        return repr(value)
    mantissa, _, power = repr(value).partition("e")
    return f"{mantissa}e{int(power):+03d}"
