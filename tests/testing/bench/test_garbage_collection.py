import gc
import threading
from collections.abc import Iterator

import pytest

from aio_apiserver.testing.bench import garbage_collection


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_no_garbage_is_looked_for_until_the_last_one_is_through() -> None:
    inside, may_leave = threading.Event(), threading.Event()

    def hold() -> None:
        with garbage_collection.held_off():
            inside.set()
            may_leave.wait()

    other = threading.Thread(target=hold)
    with garbage_collection.held_off():
        other.start()
        inside.wait()
    is_still_held_off = not gc.isenabled()
    may_leave.set()
    other.join()

    assert is_still_held_off
    assert gc.isenabled()


def test_who_has_switched_it_off_finds_it_off() -> None:
    gc.disable()

    with garbage_collection.held_off():
        pass

    assert not gc.isenabled()
