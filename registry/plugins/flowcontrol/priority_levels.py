"""Priority levels: all levels of a server, and how they lend each other seats.

Each level has seats by its shares. Every ten seconds unused seats are lent, by the recent demand of each level. Must
hold: the mandatory levels exist also without their objects. A level whose object is deleted is removed when it is idle.
"""

from collections.abc import Iterable, Mapping

from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.groups.flowcontrol import mandatory
from aio_apiserver.registry.plugins.flowcontrol import priority_level
from aio_apiserver.registry.plugins.flowcontrol.alarms import Alarms
from aio_apiserver.registry.plugins.flowcontrol.allocation import Wish, allocate
from aio_apiserver.registry.plugins.flowcontrol.priority_level import LevelConfig, PriorityLevel
from aio_apiserver.registry.plugins.flowcontrol.queue_set import QueueSet

PERIOD_SECONDS = 10.0
CATCH_ALL = "catch-all"
_MANDATORY = (priority_level.EXEMPT, CATCH_ALL)


class PriorityLevels:
    """The levels of a server with this number of seats."""

    def __init__(self, clock: Clock, alarms: Alarms, seats: int) -> None:
        self._clock = clock
        self._alarms = alarms
        self._seats = seats
        self._levels: dict[str, PriorityLevel] = {}
        self.fair_share = 0.0
        """The factor on the targets of the levels that are within their bounds."""
        self.configure(())

    @property
    def by_name(self) -> Mapping[str, PriorityLevel]:
        return self._levels

    @property
    def nominal_seats(self) -> int:
        """The sum of nominal seats, which rounding up makes a little larger than the total."""
        return sum(level.nominal for level in self._levels.values())

    def configure(self, configs: Iterable[LevelConfig]) -> None:
        """Set the levels."""
        wanted = {config.name: config for config in configs}
        for name in _MANDATORY:
            if name not in wanted:
                wanted[name] = self._mandatory(name)
        now, present = self._clock.monotonic(), self._levels
        self._levels = {name: self._level(config, present.get(name), now) for name, config in wanted.items()}
        for name, level in present.items():
            if name not in self._levels and not level.queues.is_idle:
                level.is_leaving = True
                self._levels[name] = level
        self._divide(now)

    def adjust(self) -> None:
        """Adjust the limits at the end of a period."""
        leaving = [name for name, one in self._levels.items() if one.is_leaving and one.queues.is_idle]
        for name in leaving:
            del self._levels[name]
        if leaving:
            self._divide(self._clock.monotonic())
        else:
            self._lend(self._clock.monotonic())

    def _mandatory(self, name: str) -> LevelConfig:
        """The configuration of a mandatory level whose object is missing."""
        present = self._levels.get(name)
        if present is not None:
            return present.config
        config = priority_level.read({"metadata": {"name": name}, "spec": mandatory.level_spec(name)})
        assert config is not None
        return config

    def _level(self, config: LevelConfig, present: PriorityLevel | None, now: float) -> PriorityLevel:
        if present is None:
            return PriorityLevel(config, QueueSet(self._alarms, now, is_exempt=config.is_exempt))
        present.config, present.is_leaving = config, False
        return present

    def _divide(self, now: float) -> None:
        shares = sum(level.config.shares for level in self._levels.values())
        for level in self._levels.values():
            level.take_share(self._seats, shares)
        self._lend(now)

    def _lend(self, now: float) -> None:
        for level in self._levels.values():
            level.look_back(now)
        exempt = [level for level in self._levels.values() if level.config.is_exempt]
        limited = [level for level in self._levels.values() if not level.config.is_exempt]
        left = self.nominal_seats
        for level in exempt:
            level.target = max(float(level.least), level.demand.smoothed)
            left -= level.least
            self._set(level, level.least, now)
        for level, seats in zip(limited, self._limits(limited, left), strict=True):
            self._set(level, seats, now)

    def _limits(self, limited: list[PriorityLevel], left: int) -> list[int]:
        """The seats of each limited level, when the exempt level leaves `left`."""
        for level in limited:
            level.target = max(float(level.least), level.demand.smoothed)
        lower, least = sum(level.lower for level in limited), sum(level.least for level in limited)
        self.fair_share = 0.0
        if left <= lower:
            return [level.lower for level in limited]
        if left <= least:
            part = (left - lower) / (least - lower)
            return [level.lower + _rounded((level.least - level.lower) * part) for level in limited]
        wishes = [Wish(float(level.least), float(level.upper), level.target) for level in limited]
        found = allocate(float(self.nominal_seats), wishes)
        if found is None:
            return [level.limit for level in limited]
        self.fair_share = found.proportion
        return [_rounded(seats) for seats in found.seats]

    def _set(self, level: PriorityLevel, seats: int, now: float) -> None:
        level.set_limit(seats, now, denominator=seats or max(1, _rounded(self._seats / 10)))


def _rounded(number: float) -> int:
    """Rounded half up, as Go does it."""
    return int(number + 0.5)
