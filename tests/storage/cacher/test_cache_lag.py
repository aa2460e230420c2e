"""The lag of a cache behind the store: its start, its duration, and its log lines."""

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.cache_lag import LASTING_SECONDS, Lag
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.cacher.watermark import Watermark
from tests.storage.cacher.troubled import Troubled
from tests.storage.steps import widget


@pytest.fixture
def mark() -> Watermark:
    """The lag of a cache that has been filled at revision 100."""
    mark = Watermark()
    mark.advance(100)
    return mark


@pytest.fixture
def lag(mark: Watermark, manual_clock: ManualClock) -> Lag:
    return Lag(mark, manual_clock, "widgets")


def test_it_counts_from_the_oldest_revision_that_is_missing(
    lag: Lag, mark: Watermark, manual_clock: ManualClock
) -> None:
    lag.see(101)
    manual_clock.advance(0.2)
    lag.see(105)
    manual_clock.advance(0.1)
    before = lag.statistics()

    mark.advance(101)

    assert before == {"revisions": 5, "seconds": pytest.approx(0.3)}
    assert lag.statistics() == {"revisions": 4, "seconds": pytest.approx(0.1)}


def test_a_cache_that_has_come_to_all_that_was_seen_is_not_behind(
    lag: Lag, mark: Watermark, manual_clock: ManualClock
) -> None:
    lag.see(101)
    manual_clock.advance(1)

    mark.advance(101)
    lag.see(100)

    assert lag.statistics() == {"revisions": 0, "seconds": 0}


def test_a_cache_that_is_not_filled_is_not_behind(manual_clock: ManualClock) -> None:
    lag = Lag(Watermark(), manual_clock, "widgets")

    lag.see(101)
    manual_clock.advance(60)

    assert (lag.seen, lag.statistics()) == (101, {"revisions": 0, "seconds": 0})


async def test_a_lag_that_lasts_is_logged_once_and_its_end_once(
    lag: Lag, mark: Watermark, manual_clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    for revision in range(101, 151):
        lag.see(revision)
        manual_clock.advance(LASTING_SECONDS / 8)
    during = caplog.messages[:]

    mark.advance(130)
    await manual_clock.patience.sleep(0)
    mark.advance(150)
    await manual_clock.patience.sleep(0)

    assert during == ["the cache of widgets is 2.0 s behind the store, 9 revisions"]
    assert [record.getMessage() for record in caplog.records][1:] == [
        "the cache of widgets keeps up with the store again"
    ]


async def test_a_cacher_tells_how_far_behind_its_own_writes_it_is(
    cacher: Cacher, origin: Troubled, manual_clock: ManualClock
) -> None:
    await cacher.wait_until_ready()
    written = await cacher.create("ns/a", widget("a"))

    behind = cacher.statistics()["lag"]["revisions"]
    await cacher.get("ns/a", resource_version=written.revision)

    assert (behind, cacher.statistics()["lag"]["revisions"]) == (1, 0)
