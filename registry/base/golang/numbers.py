"""Numbers: whole numbers as Go has them: in text, as strconv.ParseInt reads them, and from floats. Pure."""

import re

from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.base.golang.quoting import quote

_NUMBER = re.compile("[+-]?[0-9]+", re.ASCII)
_DIGITS = 19
_LEAST, _MOST = -(2**63), 2**63 - 1


def parse_int(text: str) -> int:
    """A 64 bit integer. Raises DecodeError.

    >>> parse_int("+5"), parse_int("-007")
    (5, -7)
    """
    if not _NUMBER.fullmatch(text):
        raise DecodeError(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    significant = text.lstrip("+-").lstrip("0")
    number = int(text) if len(significant) <= _DIGITS else _MOST + 1
    if not _LEAST <= number <= _MOST:
        raise DecodeError(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
    return number


def int64(number: float) -> int:
    """The number as an int64. A float that does not fit becomes the least one, as Go's conversion has it on amd64.

    >>> int64(-1.9), int64(1e300)
    (-1, -9223372036854775808)
    """
    whole = int(number)
    return whole if _LEAST <= whole <= _MOST else _LEAST
