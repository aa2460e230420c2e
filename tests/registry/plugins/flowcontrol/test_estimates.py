import sys

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.plugins.flowcontrol.estimates import Estimator, Sizes
from aio_apiserver.registry.plugins.flowcontrol.open_watches import OpenWatches, WatchScope
from aio_apiserver.registry.plugins.flowcontrol.tickets import ONE_SEAT, Work, work_of
from tests.registry.plugins.flowcontrol.lines import Line

PODS = ("", "pods")
WRITTEN = WatchScope("", "pods", "default", "web")


class Asked:
    """An estimator, with a level that gives one request at most 37 seats."""

    def __init__(self, sizes: Sizes | None = None) -> None:
        self.sizes = sizes
        self.looks = 0
        self.clock = ManualClock()
        self.watches = OpenWatches()
        self.estimator = Estimator(self.clock, self.watches, self._sizes_of)
        line = Line(245)
        line.level.widest = 37
        self.lane = line.lane(0)

    def _sizes_of(self, _group: str, _resource: str) -> Sizes | None:
        self.looks += 1
        return self.sizes

    def list(self, query: dict[str, list[str]], *, name: str = "") -> int:
        return self.estimator.of_list(self.lane, PODS, name, query).seats


@pytest.mark.parametrize(
    ("query", "seats"),
    [
        ({}, 10),
        ({"limit": ["29"]}, 3),
        ({"limit": ["x"]}, 10),
        ({"limit": ["9" * 5000]}, 10),
        ({"resourceVersion": ["5"], "limit": ["29"]}, 3),
        ({"resourceVersion": ["5"], "limit": ["500"]}, 37),
        ({"continue": ["x"], "labelSelector": ["a=b"], "limit": ["1"]}, 37),
    ],
)
def test_a_list_takes_seats_by_what_it_is_likely_to_bring(query: dict[str, list[str]], seats: int) -> None:
    assert Asked(Sizes(800, 10_000)).list(query) == seats


def test_a_list_of_one_object_takes_one_seat() -> None:
    assert Asked(Sizes(800, 10_000)).list({}, name="web") == 1


@pytest.mark.parametrize("sizes", [None, Sizes(0, 0)])
def test_a_list_of_nothing_that_is_known_takes_one_seat(sizes: Sizes | None) -> None:
    assert Asked(sizes).list({}) == 1


@pytest.mark.parametrize(
    ("query", "seats"),
    [
        ({}, 8),
        ({"resourceVersion": ["0"]}, 8),
        ({"resourceVersion": ["7"]}, 1),
        ({"resourceVersion": ["7"], "sendInitialEvents": ["true"]}, 8),
    ],
)
def test_a_watch_takes_seats_for_the_state_with_which_it_begins(query: dict[str, list[str]], seats: int) -> None:
    asked = Asked(Sizes(799, 1_000))

    assert asked.estimator.of_watch(asked.lane, PODS, "", query).seats == seats


def test_sizes_are_looked_up_once_a_minute() -> None:
    asked = Asked(Sizes(1, 100))

    for seconds in (0, 30, 40):
        asked.clock.advance(seconds)
        asked.list({})

    assert asked.looks == 2


def test_a_resource_that_is_not_stored_leaves_nothing_in_memory() -> None:
    asked, name = Asked(), "widgets" * 1000
    before = sys.getrefcount(name)

    asked.estimator.of_list(asked.lane, ("example.com", name), "", {})

    assert sys.getrefcount(name) == before


@pytest.mark.parametrize(
    ("watches", "work"), [(9, ONE_SEAT), (29, work_of(1, 3, 0.005)), (199, work_of(1, 10, 0.010))], ids=str
)
def test_a_write_takes_seats_for_the_watches_that_hear_of_it(watches: int, work: Work) -> None:
    asked = Asked()
    for _ in range(watches):
        asked.watches.opened(WatchScope("", "pods"), "")

    assert asked.estimator.of_write(asked.lane, WRITTEN, "") == work


def test_watches_count_that_are_about_what_is_written_and_are_open() -> None:
    watches = OpenWatches()
    everywhere, here, it, elsewhere, one_node = (
        watches.opened(WatchScope("", "pods", namespace, name), selector)
        for namespace, name, selector in (
            ("", "", ""),
            ("default", "", "metadata.name!=x"),
            ("default", "web", ""),
            ("other", "", ""),
            ("", "", "spec.nodeName=n1"),
        )
    )

    assert watches.reached(WRITTEN) == 3
    for close in (everywhere, here, it, elsewhere, one_node):
        close()
    assert watches.reached(WRITTEN) == 0
