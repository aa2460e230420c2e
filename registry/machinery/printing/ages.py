"""Ages: the age of an object in the short form of kubectl's tables.

Pure. Must hold: longer times have coarser units, with kubectl's limits. A row may be made with `LATER` as the time:
its cells subtract from it.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any

UNKNOWN = "<unknown>"

_SECRET = secrets.token_hex(8)
"""A random text, which no object contains."""
_MARK = re.compile(rf"<{_SECRET}:([-+.e0-9]+)>".encode())

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_YEAR = 365 * _DAY


class _Since(float):
    """The seconds since a moment, to be computed later."""


class _Later(float):
    """A time to be filled in later: a duration since a moment becomes a mark with that moment in the text."""

    def __sub__(self, moment: float) -> float:
        return _Since(moment)


LATER = _Later("nan")


def marked(text: bytes) -> tuple[Sequence[bytes], Sequence[float]]:
    """The parts of a text between the marks in it, and the moments of these marks."""
    parts = _MARK.split(text)
    return parts[::2], [float(moment) for moment in parts[1::2]]


def since(timestamp: Any, now: float) -> str:
    """The time since a timestamp of an object, which may be empty."""
    return duration(now - seconds_of(timestamp)) if timestamp else UNKNOWN


def seconds_of(timestamp: str) -> float:
    """The seconds since the epoch of a timestamp."""
    return datetime.fromisoformat(timestamp).timestamp()


def duration(seconds: float) -> str:
    """A duration. A small negative one counts as zero: clocks differ.

    >>> [duration(seconds) for seconds in (-1, 119, 130, 4 * _HOUR, 3 * _DAY + _HOUR, 3 * _YEAR)]
    ['0s', '119s', '2m10s', '4h', '3d1h', '3y']
    """
    if isinstance(seconds, _Since):
        return f"<{_SECRET}:{float(seconds)!r}>"
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 2 * _MINUTE:
        return f"{max(whole, 0)}s"
    if whole < 10 * _MINUTE:
        return _two(whole, (_MINUTE, "m"), (1, "s"))
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two(whole, (_HOUR, "h"), (_MINUTE, "m"))
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two(whole, (_DAY, "d"), (_HOUR, "h"))
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two(whole, (_YEAR, "y"), (_DAY, "d"))
    return f"{whole // _YEAR}y"


def _two(seconds: int, large: tuple[int, str], small: tuple[int, str]) -> str:
    """In two units, the smaller one only if it is not zero."""
    count, rest = divmod(seconds, large[0])
    rest //= small[0]
    return f"{count}{large[1]}{rest}{small[1]}" if rest else f"{count}{large[1]}"
