"""Times in objects: RFC 3339 to the second (Time), or with six digits of a second (MicroTime).

Pure, no clock. Reads what Go's time.Parse reads and refuses the rest in its words; the result is UTC. A Time may have
fractions of a second, which are dropped; a MicroTime must have exactly six digits.

Must hold: the zero time (year 1) is no time at all, so it reads as None.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from msgspec import Struct, field

from aio_apiserver.registry.base.golang.decode_errors import DecodeError

_TO_THE_SECOND = ("2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05")
_SECONDS = (*_TO_THE_SECOND, "Z07:00")
_MICROSECONDS = (*_TO_THE_SECOND, ".000000", "Z07:00")
"""The layouts, as Go writes them: an example of each number, and what stands between them."""

_UTC_TIME = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{6})?Z", re.ASCII
)
_ZERO = "0001-01-01T00:00:00"
_YEARS = 400
"""After which the calendar repeats: years that datetime does not have are moved by that."""


def time(text: str) -> str | None:
    """A Time as kube-apiserver prints it. Raises DecodeError."""
    match = _UTC_TIME.fullmatch(text)
    if match is None:
        return _parsed(_SECONDS, text)
    seconds = text[:19]
    return None if seconds == _ZERO else text if match[1] is None else f"{seconds}Z"


def micro_time(text: str) -> str | None:
    """A MicroTime as kube-apiserver prints it. Raises DecodeError."""
    match = _UTC_TIME.fullmatch(text)
    if match is None or match[1] is None:
        return _parsed(_MICROSECONDS, text)
    return None if text == f"{_ZERO}.000000Z" else text


def _parsed(layout: tuple[str, ...], text: str) -> str | None:
    parsing = _Parsing(layout, text)
    for chunk in layout:
        parsing.read(chunk)
    micros = f".{parsing.numbers['.000000']:06d}" if layout is _MICROSECONDS else ""
    seconds = parsing.seconds()
    return None if seconds == _ZERO and not micros.strip(".0") else f"{seconds}{micros}Z"


class _Parsing(Struct):
    """Go's parser, chunk by chunk. A failed chunk is quoted from where it began."""

    layout: tuple[str, ...]
    text: str
    at: int = 0
    numbers: dict[str, int] = field(default_factory=dict)
    offset: timedelta = timedelta()

    def read(self, chunk: str) -> None:
        reader = _READERS.get(chunk)
        if reader is not None:
            reader(self, chunk)
        elif self.text.startswith(chunk, self.at):
            self.at += len(chunk)
        else:
            raise self.cannot(chunk)

    def year(self, chunk: str) -> None:
        digits = self.text[self.at : self.at + 4]
        if not _are_digits(digits, 4):
            raise self.cannot(chunk)
        self.numbers[chunk] = int(digits)
        self.at += 4

    def number(self, chunk: str) -> None:
        """Two digits, or one where the layout allows it."""
        name, low, high = _RANGES[chunk]
        length = 2 if _are_digits(self.text[self.at : self.at + 2], 2) or chunk != "15" else 1
        digits = self.text[self.at : self.at + length]
        if not _are_digits(digits, length):
            raise self.cannot(chunk)
        self.numbers[chunk] = int(digits)
        self.at += length
        if not low <= self.numbers[chunk] <= high:
            raise self.wrong(f"{name} out of range")

    def second(self, chunk: str) -> None:
        """A second; a Time also takes a fraction, which its layout does not have."""
        self.number(chunk)
        fraction = _FRACTION.match(self.text, self.at)
        if fraction and self.layout is _SECONDS:
            self.at = fraction.end()

    def micros(self, chunk: str) -> None:
        digits = self.text[self.at : self.at + len(chunk)]
        if not (digits[:1] in {".", ","} and _are_digits(digits[1:], len(chunk) - 1)):
            raise self.cannot(chunk)
        self.numbers[chunk] = int(digits[1:])
        self.at += len(chunk)

    def zone(self, chunk: str) -> None:
        rest = self.text[self.at :]
        if rest.startswith("Z"):
            self.at += 1
        else:
            match = _ZONE.match(rest)
            if match is None:
                raise self.cannot(chunk)
            self.at += match.end()
            self._set_offset(match[1], int(match[2]), int(match[3]))
        if self.at < len(self.text):
            raise self.wrong(f"extra text: {_quoted(self.text[self.at :])}")
        if not 1 <= self.numbers["02"] <= _days(self.numbers["2006"], self.numbers["01"]):
            raise self.wrong("day out of range")

    def _set_offset(self, sign: str, hours: int, minutes: int) -> None:
        if minutes > 60:
            raise self.wrong("time zone offset minute out of range")
        if hours > 24:
            raise self.wrong("time zone offset hour out of range")
        offset = timedelta(hours=hours, minutes=minutes)
        self.offset = -offset if sign == "-" else offset

    def seconds(self) -> str:
        """The time to the second, in UTC."""
        year, month, day, hour, minute, second = (self.numbers[chunk] for chunk in ("2006", *_RANGES))
        moved = _YEARS if year < 5000 else -_YEARS
        utc = datetime(year + moved, month, day, hour, minute, second) - self.offset
        return f"{utc.year - moved:04d}-{utc:%m-%dT%H:%M:%S}"

    def cannot(self, chunk: str) -> DecodeError:
        layout, rest = "".join(self.layout), _quoted(self.text[self.at :])
        return DecodeError(f'parsing time {_quoted(self.text)} as "{layout}": cannot parse {rest} as "{chunk}"')

    def wrong(self, message: str) -> DecodeError:
        return DecodeError(f"parsing time {_quoted(self.text)}: {message}")


_RANGES = {
    "01": ("month", 1, 12),
    "02": ("day", 0, 99),
    "15": ("hour", 0, 23),
    "04": ("minute", 0, 59),
    "05": ("second", 0, 59),
}
_FRACTION = re.compile(r"[.,]\d+", re.ASCII)
_ZONE = re.compile(r"([+-])(\d\d):(\d\d)", re.ASCII)
_READERS: dict[str, Callable[[_Parsing, str], None]] = {
    "2006": _Parsing.year,
    **dict.fromkeys(("01", "02", "15", "04"), _Parsing.number),
    "05": _Parsing.second,
    ".000000": _Parsing.micros,
    "Z07:00": _Parsing.zone,
}


def _quoted(text: str) -> str:
    """In quotes, with each byte that is not plain ASCII as \\x."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if " " <= character <= "\x7f":
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="replace"))


def _are_digits(text: str, length: int) -> bool:
    return len(text) == length and text.isascii() and text.isdigit()


def _days(year: int, month: int) -> int:
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and is_leap else _DAYS[month - 1]


_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
