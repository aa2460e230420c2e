"""Faults: the active fault rules, and how often each was injected.

It runs on the server's event loop. Must hold: a fault is counted once. Probabilities use one seeded source, so that a
run can be repeated.
"""

import logging
import random
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING

from msgspec import Struct

from aio_apiserver.apiserver.wire.request_info import RequestInfo
from aio_apiserver.testing.bench.fault_kinds import OF_WATCHES, Fault

if TYPE_CHECKING:
    from aio_apiserver.testing.bench.fault_rules import FaultRule

logger = logging.getLogger(__name__)


class ActiveFault(Struct):
    """An active rule."""

    rule: "FaultRule"
    passed: int = 0
    """The requests or events that passed first, because of `after`."""
    injected: int = 0

    @property
    def mark(self) -> str:
        """The name of the fault in responses and logs."""
        return f"{self.rule.id}: {self.rule.fault.value}"

    @property
    def is_used_up(self) -> bool:
        return self.rule.count is not None and self.injected >= self.rule.count


Changed = Callable[[], None]


class ActiveFaults:
    """The active rules of one server."""

    def __init__(self, *, seed: int = 0) -> None:
        self._active: dict[str, ActiveFault] = {}
        self._ids = count(1)
        self._seed = seed
        self._random = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self._listeners: set[Changed] = set()

    @property
    def active(self) -> Iterable[ActiveFault]:
        return self._active.values()

    def add(self, rule: "FaultRule") -> ActiveFault:
        """Activate a rule. Raises ValueError when its id is in use."""
        named = rule if rule.id else rule.model_copy(update={"id": self._free_id()})
        if named.id in self._active:
            raise ValueError(f"there is a fault {named.id!r} already")
        active = self._active[named.id] = ActiveFault(named)
        for changed in tuple(self._listeners):
            changed()
        return active

    def remove(self, rule_id: str) -> ActiveFault:
        """Deactivate a rule. Raises KeyError."""
        return self._active.pop(rule_id)

    def clear(self) -> None:
        """Deactivate all rules, and begin the probabilities again."""
        self._active.clear()
        self._random.seed(self._seed)

    def listen(self, changed: Changed) -> Callable[[], None]:
        """Call `changed` when a rule is added. Returns the function that stops that."""
        self._listeners.add(changed)
        return lambda: self._listeners.discard(changed)

    def of_request(self, info: RequestInfo, user: str) -> Iterator[ActiveFault]:
        """The faults for a new request. Each is counted."""
        return self._matching(info, user, is_event=False)

    def of_event(self, info: RequestInfo, user: str) -> Iterator[ActiveFault]:
        """The faults for a watch event. Each is counted."""
        return self._matching(info, user, is_event=True)

    def cutting(self, info: RequestInfo, user: str) -> ActiveFault | None:
        """The fault that ends a watch at once, without an event. It is counted."""
        for active in self._fitting(info, user):
            if active.rule.fault in (Fault.CUT_WATCH, Fault.GONE) and not active.rule.after and self._happens(active):
                return active
        return None

    def concern(self, info: RequestInfo, user: str) -> bool:
        """Whether a rule may match a watch."""
        return bool(self._active) and bool(self._fitting(info, user))

    def _matching(self, info: RequestInfo, user: str, *, is_event: bool) -> Iterator[ActiveFault]:
        is_watch = info.verb == "watch"
        for active in self._fitting(info, user):
            if (is_watch and active.rule.fault in OF_WATCHES) is is_event and self._happens(active):
                yield active

    def _fitting(self, info: RequestInfo, user: str) -> list[ActiveFault]:
        return [one for one in self._active.values() if not one.is_used_up and one.rule.is_for(info, user)]

    def _happens(self, active: ActiveFault) -> bool:
        if active.passed < active.rule.after:
            active.passed += 1
            return False
        if active.rule.probability < 1 and self._random.random() >= active.rule.probability:
            return False
        active.injected += 1
        return True

    def _free_id(self) -> str:
        return next(name for number in self._ids if (name := f"fault-{number}") not in self._active)
