"""Whole numbers in texts, read as Go reads them. Pure."""

import re

from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.base.golang.quoting import quote

_NUMBER = re.compile("[+-]?[0-9]+", re.ASCII)
_DIGITS = 19
_LEAST, _MOST = -(2**63), 2**63 - 1


def parse_int(text: str) -> int:
    """A number of 64 bits. Raises DecodeError.

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
