"""Own writes: what this process has written, until its watch events arrive."""

from aio_apiserver.storage.store.own_writes import OwnWrite, OwnWrites
from aio_apiserver.storage.stored_object import ObjectReader

READER = ObjectReader(lambda _data: {"metadata": {}}, lambda _obj: {})


def write(value: bytes) -> OwnWrite:
    return OwnWrite("a", {"metadata": {}}, READER, shown=None, plain=value, value=value)


def test_an_event_and_a_result_get_the_same_object() -> None:
    own = write(b"value")

    assert own.at(7) is own.at(7)


def test_a_deletion_gets_the_object_at_its_own_revision() -> None:
    own = write(b"value")
    own.at(7)

    assert own.at(9).revision == 9


def test_a_write_is_found_once_by_its_key_and_its_value() -> None:
    writes, one = OwnWrites(), write(b"value")
    writes.add(b"/a", one)

    assert writes.take(b"/a", b"another") is None
    assert writes.take(b"/b", b"value") is None
    assert writes.take(b"/a", b"value") is one
    assert writes.take(b"/a", b"value") is None


def test_writes_without_events_do_not_pile_up() -> None:
    writes, large = OwnWrites(), bytes(600_000)
    for number in range(1_000):
        writes.add(b"/%d" % number, write(b"value"))
    oldest_left = writes.take(b"/744", b"value")
    too_old = writes.take(b"/743", b"value")

    writes.add(b"/large", write(large))
    writes.add(b"/larger", write(large))

    assert oldest_left is not None
    assert too_old is None
    assert writes.take(b"/large", large) is None
    assert writes.take(b"/larger", large) is not None
