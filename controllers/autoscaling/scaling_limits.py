"""scaling_limits: how far and how fast a horizontal pod autoscaler may change the replicas: windows, policies, limits.

Pure but for the history, which one autoscaler owns. Times are seconds. Must hold: the result lies between minReplicas
and maxReplicas, unless a policy forbids so large a step.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

_LONGEST_SECONDS = 3600.0
"""The longest window and the longest period of a policy that the API allows are not longer."""
_DOWN_WINDOW_SECONDS = 300
_UP_FACTOR, _UP_LEAST = 2, 4

Rules = Mapping[str, Any]


class ScalingVerdict(NamedTuple):
    """A number of replicas with the reason and the message of a condition."""

    replicas: int
    reason: str
    message: str


class Bounds(Struct, frozen=True):
    """The present replicas, minReplicas and maxReplicas."""

    current: int
    least: int
    most: int


_WITHIN = ("DesiredWithinRange", "the desired count is within the acceptable range")
_TOO_FAST = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
_TOO_SLOW = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")
_TOO_MANY = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_TOO_FEW = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_READY = ("ReadyForNewScale", "recommended size matches current size")
_UP_STABILIZED = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
)
_DOWN_STABILIZED = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
)


class _Noted(NamedTuple):
    replicas: int
    time: float


class ScalingHistory(Struct):
    """What one autoscaler has recommended and done lately."""

    recommendations: list[_Noted] = field(default_factory=list)
    ups: list[_Noted] = field(default_factory=list)
    downs: list[_Noted] = field(default_factory=list)

    def recommend(self, replicas: int, *, now: float) -> None:
        self.recommendations = [*_since(self.recommendations, now - _LONGEST_SECONDS), _Noted(replicas, now)]

    def begin(self, replicas: int, *, now: float) -> None:
        """Count the replicas that an autoscaler finds first as a recommendation."""
        if not self.recommendations:
            self.recommend(replicas, now=now)

    def scaled(self, before: int, after: int, *, now: float) -> None:
        oldest = now - _LONGEST_SECONDS
        if after > before:
            self.ups = [*_since(self.ups, oldest), _Noted(after - before, now)]
        else:
            self.downs = [*_since(self.downs, oldest), _Noted(before - after, now)]

    def change_since(self, time: float) -> int:
        """The sum of the changes after a time."""
        return sum(one.replicas for one in _since(self.ups, time)) - sum(
            one.replicas for one in _since(self.downs, time)
        )


def _since(noted: Sequence[_Noted], time: float) -> list[_Noted]:
    return [one for one in noted if one.time > time]


def stabilize(
    wanted: int, current: int, history: ScalingHistory, behavior: Rules | None, *, now: float
) -> ScalingVerdict:
    """The recommendation that the windows allow. It is noted in the history as it was before."""
    if behavior is None:
        recent = [one.replicas for one in history.recommendations if one.time >= now - _DOWN_WINDOW_SECONDS]
        stable = max([wanted, *recent])
    else:
        stable = _between(wanted, current, history, behavior, now=now)
    history.recommend(wanted, now=now)
    if stable == wanted:
        return ScalingVerdict(stable, *_READY)
    is_up = behavior is not None and wanted >= current
    return ScalingVerdict(stable, *(_UP_STABILIZED if is_up else _DOWN_STABILIZED))


def _between(wanted: int, current: int, history: ScalingHistory, behavior: Rules, *, now: float) -> int:
    """The present replicas, moved no further than every recommendation in a window agrees with."""
    up_window = behavior["scaleUp"].get("stabilizationWindowSeconds") or 0
    down_window = behavior["scaleDown"].get("stabilizationWindowSeconds")
    down_window = _DOWN_WINDOW_SECONDS if down_window is None else down_window
    lowest = min([wanted, *(one.replicas for one in _since(history.recommendations, now - up_window))])
    highest = max([wanted, *(one.replicas for one in _since(history.recommendations, now - down_window))])
    return min(max(current, lowest), highest)


def limit(
    wanted: int, bounds: Bounds, history: ScalingHistory, behavior: Rules | None, *, now: float
) -> ScalingVerdict:
    """The replicas that the bounds and the policies allow."""
    if behavior is None:
        fastest = max(_UP_FACTOR * bounds.current, _UP_LEAST)
        if wanted < bounds.least:
            return ScalingVerdict(bounds.least, *_TOO_FEW)
        return _at_most(wanted, bounds.most, fastest)
    if wanted > bounds.current:
        fastest = _furthest(bounds.current, history, behavior["scaleUp"], 1, now=now)
        return _at_most(wanted, bounds.most, max(fastest, bounds.current))
    if wanted < bounds.current:
        slowest = min(_furthest(bounds.current, history, behavior["scaleDown"], -1, now=now), bounds.current)
        least, why = (slowest, _TOO_SLOW) if bounds.least < slowest else (bounds.least, _TOO_FEW)
        return ScalingVerdict(least, *why) if wanted < least else ScalingVerdict(wanted, *_WITHIN)
    return ScalingVerdict(wanted, *_WITHIN)


def _at_most(wanted: int, most: int, fastest: int) -> ScalingVerdict:
    allowed, why = (fastest, _TOO_FAST) if most > fastest else (most, _TOO_MANY)
    return ScalingVerdict(allowed, *why) if wanted > allowed else ScalingVerdict(wanted, *_WITHIN)


def _furthest(current: int, history: ScalingHistory, rules: Rules, way: int, *, now: float) -> int:
    """The replicas that the policies allow in one direction: `way` is 1 for up and -1 for down."""
    policies = rules.get("policies") or ()
    if rules["selectPolicy"] == "Disabled" or not policies:
        return current
    found = [_allowed(current - history.change_since(now - one["periodSeconds"]), one, way) for one in policies]
    is_most = (rules["selectPolicy"] == "Min") == (way < 0)
    return max(found) if is_most else min(found)


def _allowed(start: int, policy: Rules, way: int) -> int:
    """The replicas that one policy allows after those at the start of its period."""
    if policy["type"] == "Pods":
        return start + way * int(policy["value"])
    changed = start * (1 + way * policy["value"] / 100)
    return math.ceil(changed) if way > 0 else int(changed)
