"""Amounts: the delays and weights of Stages, and the choice among Stages that match an object.

Pure, but for the random numbers that the caller gives.
"""

import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.machinery.schema import times
from aio_apiserver.simulation.stages import paths
from aio_apiserver.simulation.stages.cel import Expression, Random, StageExpressions

Seconds = Callable[[Object, float], float | None]
"""The seconds for an object at a time; None without a value."""
Weight = Callable[[Object], int | None]
T = TypeVar("T")
_NANOSECONDS = 10**9


class Delay(Struct, frozen=True):
    """How long an object waits before its Stage acts: any time between two ones."""

    least: Seconds
    most: Seconds

    def seconds(self, obj: Object, now: float, random: Random) -> float:
        least, most = self.least(obj, now), self.most(obj, now)
        if least is None:
            return 0.0
        if most is None or most <= least:
            return max(0.0, least if most is None else most)
        return max(0.0, least + (most - least) * random())


def delay(given: Object | None, cel: StageExpressions) -> Delay:
    """The delay of a Stage. Raises Unsupported."""
    one = given or {}
    return Delay(
        _duration(one.get("durationMilliseconds", 0), one.get("durationFrom"), cel),
        _duration(one.get("jitterDurationMilliseconds"), one.get("jitterDurationFrom"), cel),
    )


def weight(spec: Object, cel: StageExpressions) -> Weight:
    """The weight of a Stage for an object; None when the object's own text is no number. Raises Unsupported."""
    default, source = int(spec.get("weight") or 0), spec.get("weightFrom") or {}
    if "cel" in source:
        return _number(cel.parse(source["cel"]))
    path = _path(source)

    def weigh(obj: Object) -> int | None:
        found = path(obj)
        if not found or isinstance(found[0], bool) or not isinstance(found[0], str | int | float):
            return default
        return _integer(found[0]) if isinstance(found[0], str) else int(found[0])

    return weigh


def choose(weighed: Sequence[tuple[T, int | None]], random: Random) -> T | None:
    """One of the Stages that match: by weight; when no weight is above zero, any of those whose weight is valid."""
    total = sum(number or 0 for _, number in weighed)
    left = random() * total
    for one, number in weighed:
        left -= number or 0
        if total and left < 0:
            return one
    valid = [one for one, number in weighed if number is not None] or [one for one, _ in weighed]
    return valid[int(random() * len(valid))] if valid else None


def _number(value: Expression) -> Weight:
    """The whole number of an expression; None for other values."""

    def weigh(obj: Object) -> int | None:
        found = value(obj)
        return int(found) if isinstance(found, int | float) and math.isfinite(found) else None

    return weigh


def _path(given: Object) -> paths.Path:
    if not given:
        return lambda _obj: []
    return paths.parse((given.get("jq") or {}).get("expression") or given.get("expressionFrom", ""))


def _duration(milliseconds: int | None, given: Object | None, cel: StageExpressions) -> Seconds:
    default = None if milliseconds is None else milliseconds / 1000
    if given is not None and "cel" in given:
        return _of_expression(cel.parse(given["cel"]), default)
    path = _path(given or {})

    def seconds(obj: Object, now: float) -> float | None:
        found = path(obj)
        if not found or not isinstance(found[0], str):
            return default
        return _seconds(found[0], now, default) if found[0] else None

    return seconds


def _of_expression(value: Expression, default: float | None) -> Seconds:
    """The seconds of an expression: a duration as a text, or nanoseconds."""

    def seconds(obj: Object, _now: float) -> float | None:
        found = value(obj)
        if isinstance(found, str):
            try:
                return durations.parse(found)
            except durations.InvalidDuration:
                return default
        is_number = isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)
        return found / _NANOSECONDS if is_number else default

    return seconds


def _seconds(text: str, now: float, default: float | None) -> float | None:
    """The seconds of a duration, or those until a time."""
    try:
        return durations.parse(text)
    except durations.InvalidDuration:
        pass
    try:
        times.time(text)
        return datetime.fromisoformat(text).timestamp() - now
    except (DecodeError, ValueError, OverflowError):
        return default


def _integer(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None
