"""Staged kinds: the kinds that Stages drive, which the built-in simulation of pods and nodes leaves to them."""

from collections.abc import Callable, Collection

from aio_apiserver.simulation.stages.stage import Staged


class StagedKinds:
    """The kinds with Stages now. Listeners are called after each change."""

    def __init__(self) -> None:
        self._kinds: frozenset[Staged] = frozenset()
        self._listeners: list[Callable[[], None]] = []

    def has(self, kind: Staged) -> bool:
        return kind in self._kinds

    def listen(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def set(self, kinds: Collection[Staged]) -> None:
        if frozenset(kinds) != self._kinds:
            self._kinds = frozenset(kinds)
            for listener in self._listeners:
                listener()
