"""Occupancy: a count over time: how long it had which value."""

from collections.abc import Mapping


class Occupancy:
    """A count with its history."""

    __slots__ = ("_at", "_spent", "present")

    def __init__(self, now: float) -> None:
        self.present = 0
        self._at = now
        self._spent: dict[int, float] = {}

    def change(self, by: int, now: float) -> None:
        present, spent = self.present, self._spent
        spent[present] = spent.get(present, 0.0) + now - self._at
        self._at = now
        self.present = present + by

    def take_spent(self, now: float) -> Mapping[int, float]:
        """The seconds by value since the last call."""
        self.change(0, now)
        spent, self._spent = self._spent, {}
        return spent


class InFlight:
    """Running and waiting requests, read-only and mutating ones apart."""

    def __init__(self, now: float) -> None:
        self.reading = Occupancy(now)
        self.changing = Occupancy(now)
        self.waiting_to_read = Occupancy(now)
        self.waiting_to_change = Occupancy(now)
