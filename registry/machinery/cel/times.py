"""Times: CEL timestamps and durations: Go's text forms and their parts."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aio_apiserver.registry.machinery.cel.values import SECOND, Duration, EvaluationError, Timestamp, whole_number

_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)")
_UNITS: Mapping[str, int] = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_MOST_DIGITS = 20
_MAX_DURATION = 2**63 - 1
MIN_SECONDS, MAX_SECONDS = -62135596800, 253402300799
_OFFSET = re.compile(r"([+-]?)(\d\d):(\d\d)")


def parse_timestamp(text: str) -> Timestamp | None:
    """A timestamp in RFC 3339; None for other text."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    try:
        moment = datetime.fromisoformat(match[1] + match[3])
    except ValueError:
        return None
    seconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    offset = moment.utcoffset() or timedelta()
    return Timestamp(seconds * SECOND + int((match[2] or "").ljust(9, "0")), int(offset.total_seconds()))


def parse_duration(text: str) -> Duration | None:
    """A duration as Go writes it; None for other text."""
    sign = -1 if text.startswith("-") else 1
    body = text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return Duration(0)
    total, at = 0, 0
    while at < len(body):
        match = _PART.match(body, at)
        if match is None:
            return None
        whole, _, fraction = match[1].partition(".")
        unit = _UNITS[match[2]]
        number, fraction = whole_number(whole or "0"), fraction[:_MOST_DIGITS]
        if number is None:
            return None
        total += number * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        at = match.end()
    if not body or total > _MAX_DURATION:
        return None
    return Duration(sign * total)


def checked(moment: Timestamp) -> Timestamp:
    """The timestamp, if it lies between the years 1 and 9999. Raises EvaluationError."""
    if not MIN_SECONDS <= moment.nanoseconds // SECOND <= MAX_SECONDS:
        raise EvaluationError("timestamp overflow")
    return moment


def checked_duration(length: Duration) -> Duration:
    """The duration, if it fits into 64 bits. Raises EvaluationError."""
    if abs(length.nanoseconds) > _MAX_DURATION:
        raise EvaluationError("duration overflow")
    return length


def timestamp_text(moment: Timestamp) -> str:
    """RFC 3339 with as many fraction digits as needed."""
    rest = moment.nanoseconds % SECOND
    local, year = _local(moment, timedelta(seconds=moment.offset))
    text = f"{year:04d}-{local:%m-%dT%H:%M:%S}"
    return text + (f".{rest:09d}".rstrip("0") if rest else "") + _offset_text(moment.offset)


def _offset_text(seconds: int) -> str:
    if not seconds:
        return "Z"
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02d}:{minutes:02d}"


def duration_text(length: Duration) -> str:
    """The duration in seconds, such as `1.5s`."""
    sign = "-" if length.nanoseconds < 0 else ""
    seconds, rest = divmod(abs(length.nanoseconds), SECOND)
    return f"{sign}{seconds}" + (f".{rest:09d}".rstrip("0") if rest else "") + "s"


def _zone(name: str) -> tzinfo | timedelta:
    """A time zone, or a fixed offset from UTC. Python's zones have offsets below a day."""
    match = _OFFSET.fullmatch(name)
    if match is not None:
        offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return -offset if match[1] == "-" else offset
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        raise EvaluationError(f"unknown time zone {name}") from exc


_CYCLE_YEARS, _CYCLE = 400, timedelta(days=146_097)
"""After 400 years, the calendar repeats, and so do the days of the week."""
_EDGE = 10 * 24 * 3600
"""Seconds: longer than any offset."""


def _local(moment: Timestamp, zone: tzinfo | timedelta) -> tuple[datetime, int]:
    """The moment in a time zone, and its year. Python has no year 0 and no year 10,000, which zones can make of the
    first and the last days: there, the datetime is that of another cycle of the calendar.
    """
    seconds = moment.nanoseconds // SECOND
    cycles = (seconds < MIN_SECONDS + _EDGE) - (seconds > MAX_SECONDS - _EDGE)
    utc = datetime(1970, 1, 1, tzinfo=UTC) + (timedelta(seconds=seconds) + cycles * _CYCLE)
    local = utc + zone if isinstance(zone, timedelta) else utc.astimezone(zone)
    return local, local.year - cycles * _CYCLE_YEARS


PARTS: Mapping[str, Callable[[datetime], int]] = {
    "Month": lambda moment: moment.month - 1,
    "DayOfYear": lambda moment: moment.timetuple().tm_yday - 1,
    "DayOfMonth": lambda moment: moment.day - 1,
    "Date": lambda moment: moment.day,
    "DayOfWeek": lambda moment: moment.isoweekday() % 7,
    "Hours": lambda moment: moment.hour,
    "Minutes": lambda moment: moment.minute,
    "Seconds": lambda moment: moment.second,
}
_LENGTHS = {"Hours": 3600 * SECOND, "Minutes": 60 * SECOND, "Seconds": SECOND, "Milliseconds": 10**6}


def part_of_timestamp(name: str) -> Callable[..., int]:
    """A function that reads a part of a timestamp in a time zone, UTC by default."""
    if name == "Milliseconds":
        return lambda moment, _zone="": moment.nanoseconds % SECOND // 10**6
    if name == "FullYear":
        return lambda moment, zone="": _local(moment, _zone(zone))[1]
    part = PARTS[name]
    return lambda moment, zone="": part(_local(moment, _zone(zone))[0])


def part_of_duration(name: str) -> Callable[[Duration], int]:
    """A function that reads a duration in whole units."""
    unit = _LENGTHS[name]

    def measure(length: Duration) -> int:
        whole = abs(length.nanoseconds) // unit
        return -whole if length.nanoseconds < 0 else whole

    return measure
