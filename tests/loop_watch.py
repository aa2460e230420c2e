"""Loop watch: the pytest plugin that runs the watchdog beside all tests.

Must hold: a hold fails the phase of the test in which it happened: its setup, its call or its teardown.
"""

from collections.abc import Generator
from contextlib import ExitStack

import pytest

from tests import watchdog
from tests.watchdog import Watchdog

MARKER = "holds_the_loop"


class LoopWatch:
    """Fails tests by what one watchdog has seen."""

    def __init__(self, watching: Watchdog) -> None:
        self._watchdog = watching
        self._excused = watchdog.excused()

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", f"{MARKER}(reason): this test may hold its event loop for over 100 ms")
        stack = ExitStack()
        stack.enter_context(self._watchdog.watching())
        config.add_cleanup(stack.close)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        yield from self._watched(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        yield from self._watched(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None]:
        yield from self._watched(item)

    def _watched(self, item: pytest.Item) -> Generator[None]:
        """Raises pytest's failure when a loop was held meanwhile."""
        self._watchdog.holds.clear()
        yield
        holds = [hold for hold in self._watchdog.holds if not hold.is_excused(self._excused)]
        if holds and item.get_closest_marker(MARKER) is None:
            pytest.fail("an event loop was held for " + "\n".join(map(str, holds)), pytrace=False)
