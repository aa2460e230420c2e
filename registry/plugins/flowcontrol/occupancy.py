"""Occupancy: how many of something there are, and for how long there were how many."""

from collections.abc import Mapping


class Occupancy:
    """A number and its past."""

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
        """The seconds by number since somebody asked last."""
        self.change(0, now)
        spent, self._spent = self._spent, {}
        return spent


class InFlight:
    """The requests that are served and that wait, reading ones apart from others."""

    def __init__(self, now: float) -> None:
        self.reading = Occupancy(now)
        self.changing = Occupancy(now)
        self.waiting_to_read = Occupancy(now)
        self.waiting_to_change = Occupancy(now)
