"""Amounts: the delays and weights of Stages, and the choice among Stages that match an object.

Pure, but for the random numbers that the caller gives.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from msgspec import Struct

from aio_apiserver.controllers.stages import paths
from aio_apiserver.controllers.stages.unsupported import Unsupported
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.machinery.schema import times
from aio_apiserver.storage.stored_object import Object

Random = Callable[[], float]
"""A number from 0 up to 1."""
Seconds = Callable[[Object, float], float | None]
"""The seconds for an object at a time; None without a value."""
Weight = Callable[[Object], int | None]
T = TypeVar("T")


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


def delay(given: Object | None) -> Delay:
    """The delay of a Stage. Raises Unsupported."""
    one = given or {}
    return Delay(
        _duration(one.get("durationMilliseconds", 0), one.get("durationFrom")),
        _duration(one.get("jitterDurationMilliseconds"), one.get("jitterDurationFrom")),
    )


def weight(spec: Object) -> Weight:
    """The weight of a Stage for an object; None when the object's own text is no number. Raises Unsupported."""
    default = int(spec.get("weight") or 0)
    path = _path(spec.get("weightFrom"))

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


def _path(given: Object | None) -> paths.Path:
    if given is None:
        return lambda _obj: []
    if "cel" in given:
        raise Unsupported("the CEL expression of a delay or a weight")
    return paths.parse((given.get("jq") or {}).get("expression") or given.get("expressionFrom", ""))


def _duration(milliseconds: int | None, given: Object | None) -> Seconds:
    default = None if milliseconds is None else milliseconds / 1000
    path = _path(given)

    def seconds(obj: Object, now: float) -> float | None:
        found = path(obj)
        if not found or not isinstance(found[0], str):
            return default
        return _seconds(found[0], now, default) if found[0] else None

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
