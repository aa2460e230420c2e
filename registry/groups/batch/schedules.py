"""Schedules: validates the cron schedule of a CronJob, with kube-apiserver's messages. Controllers compute the times.

A schedule has five fields: minute, hour, day of month, month, day of week. Each field has ranges with steps. A
descriptor such as `@hourly` or `@every 1h30m` may replace the fields, and `TZ=Europe/Berlin ` may come first.

Pure, but for the time zones of the machine.
"""

import re
from collections.abc import Mapping

from msgspec import Struct, field

from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.groups.batch import time_zones

_MAX_INT = 2**63 - 1
_NUMBER = re.compile("[+-]?[0-9]+", re.ASCII)
_DESCRIPTORS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_EVERY = "@every "
_ZONE_PREFIXES = ("TZ=", "CRON_TZ=")


class _Bounds(Struct, frozen=True):
    least: int
    most: int
    names: Mapping[str, int] = field(default_factory=dict)


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    _Bounds(0, 59),
    _Bounds(0, 23),
    _Bounds(1, 31),
    _Bounds(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Bounds(0, 6, {name: number for number, name in enumerate(_DAYS)}),
)


class _Wrong(Exception):
    """The schedule is invalid. The text is the message."""


def error_of(schedule: str) -> str:
    """The message for an invalid schedule; empty for a valid one."""
    try:
        _check(schedule)
    except _Wrong as exc:
        return str(exc)
    return ""


def _check(schedule: str) -> None:
    if not schedule:
        raise _Wrong("empty spec string")
    if schedule.startswith(_ZONE_PREFIXES):
        schedule = _without_zone(schedule)
    if schedule.startswith("@"):
        _check_descriptor(schedule)
        return
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        raise _Wrong(f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: [{' '.join(fields)}]")
    for text, bounds in zip(fields, _FIELDS, strict=True):
        for expression in filter(None, text.split(",")):
            _check_range(expression, bounds)


def _without_zone(schedule: str) -> str:
    zone, found, rest = schedule.partition(" ")
    if not found:
        raise _Wrong("invalid schedule format: runtime error: slice bounds out of range [:-1]")
    name = zone.partition("=")[2]
    if error := time_zones.error_of(name):
        raise _Wrong(f"provided bad location {name}: {error}")
    return rest.strip()


def _check_descriptor(descriptor: str) -> None:
    if descriptor in _DESCRIPTORS:
        return
    if not descriptor.startswith(_EVERY):
        raise _Wrong(f"unrecognized descriptor: {descriptor}")
    try:
        durations.parse(descriptor.removeprefix(_EVERY))
    except durations.InvalidDuration as exc:
        raise _Wrong(f"failed to parse duration {descriptor}: {exc}") from exc


def _check_range(expression: str, bounds: _Bounds) -> None:
    """Check one range: `*`, `n` or `n-m`, with or without `/step`."""
    numbers, *steps = expression.split("/")
    low, *high = numbers.split("-")
    if low in {"*", "?"}:
        start, end = bounds.least, bounds.most
    else:
        start = end = _number(low, bounds.names)
        if len(high) > 1:
            raise _Wrong(f"too many hyphens: {expression}")
        if high:
            end = _number(high[0], bounds.names)
    step = 1
    if steps:
        if len(steps) > 1:
            raise _Wrong(f"too many slashes: {expression}")
        step = _number(steps[0], {})
        end = end if high else bounds.most
    _check_bounds(start, end, step, bounds=bounds, expression=expression)


def _check_bounds(start: int, end: int, step: int, *, bounds: _Bounds, expression: str) -> None:
    if start < bounds.least:
        raise _Wrong(f"beginning of range ({start}) below minimum ({bounds.least}): {expression}")
    if end > bounds.most:
        raise _Wrong(f"end of range ({end}) above maximum ({bounds.most}): {expression}")
    if start > end:
        raise _Wrong(f"beginning of range ({start}) beyond end of range ({end}): {expression}")
    if step == 0:
        raise _Wrong(f"step of range should be a positive number: {expression}")


def _number(text: str, names: Mapping[str, int]) -> int:
    named = names.get(text.lower())
    if named is not None:
        return named
    failed = f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}"
    if not _NUMBER.fullmatch(text):
        raise _Wrong(f"{failed}: invalid syntax")
    number = int(text) if len(text) <= len(str(_MAX_INT)) + 1 else _MAX_INT + 1
    if not -_MAX_INT <= number <= _MAX_INT:
        raise _Wrong(f"{failed}: value out of range")
    if number < 0:
        raise _Wrong(f"negative number ({number}) not allowed: {text}")
    return number
