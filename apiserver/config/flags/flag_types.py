"""flag_types: the types of flags' values, and how Go's flag package reads the text of each.

Pure. Must hold: the message about a text that is no value of its type is Go's.
"""

import re
from collections.abc import Callable, Mapping
from enum import Enum
from ipaddress import ip_address

from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.golang.text import parse_bool


class FlagType(Enum):
    """The type of a flag's value. The text is the type's name in --help."""

    STRING = "string"
    BOOL = "bool"
    INT = "int"
    INT_OR_AUTO = "int or auto"
    LEVEL = "Level"
    FLOAT = "float"
    DURATION = "duration"
    IP = "ip"
    LIST = "strings"
    MAP = "mapStringString"


Scalar = str | bool | int | float

_AUTO = "auto"
_WHOLE = re.compile(r"0x[0-9a-f]+|0o?[0-7]+|0b[01]+|0|[1-9][0-9]*", re.IGNORECASE | re.ASCII)
"""Go's literals without underscores, which it also reads."""
_FLOAT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_MOST = 2**63 - 1
_MOST_LEVEL = 2**32 - 1


def parse(kind: FlagType, text: str) -> Scalar:
    """The value of a text. Raises ValueError with Go's message."""
    read = _READERS.get(kind)
    return text if read is None else read(text)


def _int(text: str) -> int:
    number = _whole(text.removeprefix("-") if text.startswith("-") else text.removeprefix("+"), text, "ParseInt")
    number = -number if text.startswith("-") else number
    return _within(-_MOST - 1, number, _MOST, text=text, function="ParseInt")


def _int_or_auto(text: str) -> Scalar:
    return text if text == _AUTO else _int(text)


def _level(text: str) -> int:
    return _within(0, _whole(text, text, "ParseUint"), _MOST_LEVEL, text=text, function="ParseUint")


def _whole(digits: str, text: str, function: str) -> int:
    if not _WHOLE.fullmatch(digits):
        raise ValueError(f"strconv.{function}: parsing {quote(text)}: invalid syntax")
    is_octal = len(digits) > 1 and digits[0] == "0" and digits.isdecimal()
    return int(digits, 8) if is_octal else int(digits, 0)


def _within(least: int, number: int, most: int, *, text: str, function: str) -> int:
    if not least <= number <= most:
        raise ValueError(f"strconv.{function}: parsing {quote(text)}: value out of range")
    return number


def _float(text: str) -> float:
    if not _FLOAT.fullmatch(text):
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: invalid syntax")
    return float(text)


def _ip(text: str) -> str:
    try:
        return str(ip_address(text)) if text else ""
    except ValueError:
        raise ValueError(f"failed to parse IP: {quote(text)}") from None


_READERS: Mapping[FlagType, Callable[[str], Scalar]] = {
    FlagType.BOOL: parse_bool,
    FlagType.INT: _int,
    FlagType.INT_OR_AUTO: _int_or_auto,
    FlagType.LEVEL: _level,
    FlagType.FLOAT: _float,
    FlagType.DURATION: durations.parse,
    FlagType.IP: _ip,
}
