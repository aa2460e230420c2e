"""Cron: the times of a cron schedule.

Pure. The schedule was validated before: five fields or a descriptor. When both day of month and day of week are
restricted, a day has to match one of them.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from msgspec import Struct

from aio_apiserver.registry.base.golang import durations

_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "
_LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NAMES = {name: number for names, first in ((_MONTHS, 1), (_DAYS, 0)) for number, name in enumerate(names, first)}
_MANY_TIMES = 100
_LOOK_BACK = timedelta(days=366)
_YEARS = 5
"""The search ends after this time: a schedule without a match until then never matches."""


class Schedule(Struct, frozen=True):
    """A parsed schedule. `every`: the seconds of an @every schedule, which has no fields; else 0."""

    fields: Sequence[frozenset[int]]
    has_days: bool
    """Whether the days of the month are restricted."""
    has_weekdays: bool
    zone: tzinfo
    every: float = 0.0

    def next(self, after: datetime) -> datetime | None:
        """The first time after this one."""
        if self.every:
            return (after + timedelta(seconds=self.every)).replace(microsecond=0)
        time = after.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
        last = time.year + _YEARS
        while time.year <= last:
            later = self._skip(time.astimezone(self.zone))
            if later is None:
                return time
            time = later.astimezone(UTC)
        return None

    def _skip(self, time: datetime) -> datetime | None:
        """A later candidate; None when this time matches.

        Hours and minutes pass in UTC: the zone's clock may skip an hour, or show one twice.
        """
        minutes, hours, _, months, _ = self.fields
        midnight = datetime(time.year, time.month, time.day, tzinfo=self.zone)
        if time.month not in months:
            return (midnight.replace(day=1) + timedelta(days=32)).replace(day=1)
        if not self._is_day(time):
            return midnight + timedelta(days=1)
        if time.hour not in hours:
            return time.astimezone(UTC) + timedelta(minutes=60 - time.minute)
        return None if time.minute in minutes else time.astimezone(UTC) + timedelta(minutes=1)

    def _is_day(self, time: datetime) -> bool:
        is_day, is_weekday = time.day in self.fields[2], time.isoweekday() % 7 in self.fields[4]
        return is_day or is_weekday if self.has_days and self.has_weekdays else is_day and is_weekday


def parse(text: str, zone: str | None) -> Schedule:
    """Parse a schedule. A zone in the text wins over `zone`."""
    if text.startswith(("TZ=", "CRON_TZ=")):
        given, _, text = text.partition(" ")
        zone = given.partition("=")[2]
    place: tzinfo = ZoneInfo(zone) if zone else UTC
    text = text.strip()
    if text.startswith(_EVERY):
        return Schedule((), False, False, place, max(1.0, float(int(durations.parse(text.removeprefix(_EVERY))))))
    parts = _DESCRIPTORS.get(text, text).split()
    fields = [_field(part, low, high) for part, (low, high) in zip(parts, _LIMITS, strict=True)]
    return Schedule(fields, not _is_any(parts[2]), not _is_any(parts[4]), place)


def _is_any(part: str) -> bool:
    return part.startswith(("*", "?"))


def _field(part: str, low: int, high: int) -> frozenset[int]:
    found: set[int] = set()
    for expression in filter(None, part.split(",")):
        span, _, step = expression.partition("/")
        first, _, last = span.partition("-")
        if first in ("*", "?"):
            start, end = low, high
        else:
            start = _number(first)
            end = _number(last) if last else (high if step else start)
        found.update(range(start, end + 1, int(step or 1)))
    return frozenset(found)


def _number(text: str) -> int:
    return _NAMES[text.lower()] if text.lower() in _NAMES else int(text)


def due(schedule: Schedule, since: datetime, now: datetime) -> datetime | None:
    """The last scheduled time after `since` and not after `now`; None without one. It looks back one year at most."""
    time = schedule.next(max(since, now - _LOOK_BACK))
    if time is not None and time <= now and schedule.every:
        return time + timedelta(seconds=(now - time).total_seconds() // schedule.every * schedule.every)
    found = None
    while time is not None and time <= now:
        found = time
        later = schedule.next(time + (now - time) / 2)  # bisects the interval, so that a year takes few steps
        time = later if later is not None and later <= now else schedule.next(time)
    return found


def has_missed_many(schedule: Schedule, since: datetime, now: datetime) -> bool:
    """Whether more than 100 times have passed after `since`. The distance of the first two stands for all."""
    first = schedule.next(since)
    second = schedule.next(first) if first is not None else None
    if first is None or second is None or now < second:
        return False
    return (now - first) // (second - first) + 1 > _MANY_TIMES
