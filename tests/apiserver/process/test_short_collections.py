import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from aio_apiserver.apiserver.process.short_collections import ShortCollections
from aio_apiserver.base.clock import ManualClock


class Node:
    """An object that may be part of a cycle."""

    def __init__(self) -> None:
        self.other: Node | None = None


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def short(clock: ManualClock) -> Iterator[ShortCollections]:
    gc.collect()
    gc.freeze()
    short = ShortCollections(clock, many=1)
    yield short
    short.end()
    gc.unfreeze()
    gc.collect()
    gc.freeze()  # as it is beside all tests


def test_collections_are_rarer_until_it_ends() -> None:
    usual = gc.get_threshold()

    short = ShortCollections(ManualClock())
    meanwhile = gc.get_threshold()
    short.end()

    assert meanwhile[0] > usual[0]
    assert gc.get_threshold() == usual


def test_what_survives_a_full_collection_is_exempt_from_the_next(short: ShortCollections) -> None:
    before = gc.get_freeze_count()
    nodes = [Node() for _ in range(1000)]

    gc.collect()

    assert gc.get_freeze_count() >= before + 1000
    assert len(gc.get_objects()) < 1000
    del nodes, short


def test_a_cycle_of_exempt_objects_is_found_when_their_number_has_doubled_and_time_has_passed(
    short: ShortCollections, clock: ManualClock
) -> None:
    first, second = Node(), Node()
    first.other, second.other = second, first
    found = ref(first)
    gc.collect()
    del first, second
    many = [Node() for _ in range(gc.get_freeze_count() + 10_000)]

    for _ in range(9):
        gc.collect()
    assert found() is not None

    clock.advance(600)
    for _ in range(9):
        gc.collect()
    assert found() is None
    del many, short
