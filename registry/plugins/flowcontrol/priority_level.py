"""Priority level: one level of API Priority and Fairness, with its seats and their limits.

    nominal   its share of all seats             lower   the seats that it does not lend
    upper     the seats that it may have in all  limit   the seats that it has now

Must hold: an inconsistent PriorityLevelConfiguration gives no level.
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.plugins.flowcontrol import loop_turns, shuffle_sharding, time_spent
from aio_apiserver.registry.plugins.flowcontrol.queue_set import QueueSet, Queuing
from aio_apiserver.registry.plugins.flowcontrol.tickets import Queue
from aio_apiserver.registry.plugins.flowcontrol.time_spent import Statistics
from aio_apiserver.registry.plugins.flowcontrol.utilization import Utilization

EXEMPT = "exempt"
_SMOOTHING = 0.977
"""The weight of the old smoothed demand after one period. It halves in five minutes."""
_WIDEST_SHARE = 0.15
"""The part of a level's seats that one request may take."""


class LevelConfig(Struct, frozen=True, kw_only=True):
    """A PriorityLevelConfiguration. queuing: None when surplus requests are rejected."""

    name: str
    uid: str
    shares: int
    lendable_percent: int
    borrowing_percent: int | None = None
    queuing: Queuing | None = None
    is_exempt: bool = False


def read(obj: Object) -> LevelConfig | None:
    """The configuration in an object; None when it is inconsistent."""
    metadata, spec = obj["metadata"], obj.get("spec") or {}
    name, limited, exempt = metadata["name"], spec.get("limited"), spec.get("exempt")
    is_exempt = spec.get("type") == "Exempt"
    if is_exempt is not (name == EXEMPT) or is_exempt is (exempt is None) or is_exempt is (limited is not None):
        return None
    part: Mapping[str, Any] = (exempt if is_exempt else limited) or {}
    queuing = objects.get(spec, "limited.limitResponse.queuing")
    if not is_exempt and (objects.get(spec, "limited.limitResponse.type") == "Queue") is (queuing is None):
        return None
    return LevelConfig(
        name=name,
        uid=metadata.get("uid", ""),
        shares=part.get("nominalConcurrencyShares") or 0,
        lendable_percent=part.get("lendablePercent") or 0,
        borrowing_percent=part.get("borrowingLimitPercent"),
        queuing=None if queuing is None else _queuing(queuing),
        is_exempt=is_exempt,
    )


def _queuing(queuing: Mapping[str, Any]) -> Queuing:
    return Queuing(queuing["queues"], queuing["handSize"], queuing["queueLengthLimit"])


class Demand(Struct):
    """The recent demand of a level for seats."""

    latest: Statistics = time_spent.NOTHING
    smoothed: float = 0.0

    def take(self, latest: Statistics) -> None:
        """Add the statistics of one period."""
        if latest.seconds <= 0:
            self.latest = self.latest._replace(highest=latest.highest)
            return
        envelope = latest.average + latest.deviation
        self.latest = latest
        self.smoothed = max(envelope, _SMOOTHING * self.smoothed + (1 - _SMOOTHING) * envelope)


class PriorityLevel:
    """A level of one server. is_leaving: its object is deleted, and it finishes its requests."""

    def __init__(self, config: LevelConfig, queues: QueueSet) -> None:
        self.config = config
        self.queues = queues
        self.demand = Demand()
        self.utilization = Utilization()
        self.nominal = self.lower = self.upper = 0
        self.limit = -1
        self.target = 0.0
        self.widest = 0
        """The most seats that one request may take; 0 for no limit of the level."""
        self.share_of_turn = 1
        self.is_leaving = False
        self._wanted: dict[float, float] = {}

    def take_share(self, total: int, shares: int) -> None:
        """Take the level's share of all seats. `shares`: the sum over all levels."""
        config = self.config
        self.nominal = -(-total * config.shares // shares) if shares else 0
        self.share_of_turn = loop_turns.share_of_turn(config.shares / shares if shares else 0)
        lendable = _percent(self.nominal, config.lendable_percent)
        borrowing = total if config.borrowing_percent is None else _percent(self.nominal, config.borrowing_percent)
        self.lower, self.upper = self.nominal - lendable, self.nominal + borrowing
        if config.queuing is not None:
            self.widest = max(1, min(ceil(self.nominal * _WIDEST_SHARE), self.nominal // config.queuing.hand_size))
        if self.limit < 0:
            self.limit = self.nominal - lendable // 2

    @property
    def least(self) -> int:
        """The seats that the level should have at least, by its recent demand."""
        highest = round(self.demand.latest.highest)
        return max(self.lower, highest if self.config.is_exempt else min(self.nominal, highest))

    @property
    def most_of_flow(self) -> int:
        """The requests that one flow may have at once: those with all seats of the level, and those in its queues."""
        queuing = self.config.queuing
        return self.limit + (queuing.hand_size * queuing.length_limit if queuing is not None else 0)

    def hand(self, schema: str, distinguisher: str) -> list[Queue]:
        """The queues of a flow; empty for a level without queues."""
        queuing = self.config.queuing
        if queuing is None:
            return []
        value = shuffle_sharding.hash_of(schema, distinguisher) if queuing.queues > 1 else 0
        hand = shuffle_sharding.hand_of(value, queuing.queues, queuing.hand_size)
        return [self.queues.queue(number) for number in hand]

    def settle(self, now: float) -> None:
        """Account for the time since the last call."""
        for state, seconds in self.queues.take_spent(now).items():
            wanted = float(state.seats + state.waiting_seats)
            self._wanted[wanted] = self._wanted.get(wanted, 0.0) + seconds
            self.utilization.add(state, seconds)

    def look_back(self, now: float) -> None:
        """Compute the demand in the period that ends now."""
        self.settle(now)
        present = float(self.queues.seats + self.queues.waiting_seats)
        self.demand.take(time_spent.statistics(self._wanted, present=present))
        self._wanted.clear()

    def set_limit(self, limit: int, now: float, *, denominator: int) -> None:
        """Set the number of seats. denominator: the number that counts as full utilization."""
        self.settle(now)
        self.limit = limit
        self.utilization.full(denominator, self.config.queuing)
        self.queues.configure(self.config.queuing, limit, now)


def _percent(number: int, percent: int) -> int:
    """A percentage, rounded half up as Go does it."""
    return (number * percent + 50) // 100
