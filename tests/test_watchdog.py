"""The watchdog fails tests that hold an event loop."""

import asyncio
import threading
import time

import pytest
import uvloop

from tests.loop_watch import LoopWatch
from tests.watchdog import Hold, Watchdog, excused

pytest_plugins = ["pytester"]

LIMIT = 0.02
_TEST = """
import asyncio, time, pytest

async def hold() -> None:
    began = time.thread_time()
    while time.thread_time() < began + 0.03:
        pass

def test_it_holds() -> None:
    asyncio.run(hold())

@pytest.mark.holds_the_loop("a reason")
def test_it_may_hold() -> None:
    asyncio.run(hold())

def test_it_waits() -> None:
    asyncio.run(asyncio.sleep(0))
"""


async def compute(watchdog: Watchdog) -> None:
    """Compute until the watchdog has seen it. On a busy machine its thread runs late."""
    burn(3 * LIMIT)
    while not watchdog._stacks:
        burn(LIMIT)


def burn(seconds: float) -> None:
    began = time.thread_time()
    while time.thread_time() < began + seconds:
        pass


@pytest.mark.parametrize("new_loop", ["asyncio", "uvloop"])
def test_a_callback_that_computes_is_noted_with_its_function(new_loop: str) -> None:
    watchdog = Watchdog(LIMIT)

    with watchdog.watching():
        factory = asyncio.new_event_loop if new_loop == "asyncio" else uvloop.new_event_loop
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(compute(watchdog))

    (hold,) = watchdog.holds
    assert hold.seconds > LIMIT
    assert hold.is_excused({"tests/test_watchdog.py:compute"})
    assert not hold.is_excused(excused())


def test_the_time_of_other_threads_is_not_counted() -> None:
    watchdog = Watchdog(LIMIT)

    async def wait() -> None:
        computing = threading.Thread(target=burn, args=(2 * LIMIT,))
        computing.start()
        computing.join()

    with watchdog.watching():
        asyncio.run(wait())

    assert not watchdog.holds


def test_a_function_that_was_seen_once_is_no_excuse() -> None:
    hold = Hold(1.0, "a callback", 4, {"a.py:a": 3, "a.py:b": 1}, "")

    assert hold.is_excused({"a.py:a"})
    assert not hold.is_excused({"a.py:b"})


def test_every_excuse_has_a_reason() -> None:
    assert all(excused().values())


def test_a_test_that_holds_its_loop_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_TEST)

    result = pytester.inline_run("-p", "no:asyncio", plugins=[LoopWatch(Watchdog(LIMIT))])

    passed, _, failed = result.listoutcomes()
    assert [report.nodeid.rpartition(":")[2] for report in failed] == ["test_it_holds"]
    assert [report.nodeid.rpartition(":")[2] for report in passed] == ["test_it_may_hold", "test_it_waits"]
    assert "an event loop was held for" in str(failed[0].longrepr)
