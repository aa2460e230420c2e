"""Encodings: made once a revision, bounded, counted, and gone with the object that they show."""

import gc

from aio_apiserver.storage.stored_object import Encodings, ObjectReader, StoredObject


class Encoder:
    """Makes so many bytes of each object, and counts."""

    def __init__(self, size: int = 1000) -> None:
        self.count = 0
        self._size = size

    def __call__(self, stored: StoredObject) -> bytes:
        self.count += 1
        return stored.key.encode().ljust(self._size)


def objects(count: int, encodings: Encodings) -> list[StoredObject]:
    reader = ObjectReader(lambda _data: {}, lambda _obj: {}, "widgets", encodings)
    return [StoredObject.of(f"a/{number}", 1, {"metadata": {}}, reader) for number in range(count)]


def kept_bytes(encodings: Encodings) -> int:
    return encodings.statistics()["bytes"]


def test_an_encoding_is_made_once_for_each_encoder() -> None:
    (stored,) = objects(1, Encodings())
    one, other = Encoder(), Encoder(5)

    answers = [stored.encoded(one), stored.encoded(other), stored.encoded(one), stored.encoded(other)]

    assert answers[:2] == answers[2:] == [b"a/0".ljust(1000), b"a/0  "]
    assert (one.count, other.count) == (1, 1)


def test_what_is_kept_is_counted_and_gone_with_its_object() -> None:
    encodings, encode = Encodings(), Encoder()
    kept = objects(3, encodings)

    for stored in kept:
        stored.encoded(encode)
    before = kept_bytes(encodings)
    del kept[1:], stored
    gc.collect()

    assert before > 3000
    assert kept_bytes(encodings) == before // 3
    assert encodings.statistics()["objects"] == 1


def test_everything_together_stays_below_the_limit() -> None:
    encodings, encode = Encodings(10_000), Encoder()

    for stored in (kept := objects(100, encodings)):
        assert stored.encoded(encode) == stored.key.encode().ljust(1000)
        assert kept_bytes(encodings) <= 10_000

    assert encodings.statistics()["objects"] > 5
    assert len(kept) == 100


def test_what_is_asked_for_again_and_again_stays() -> None:
    encodings, encode = Encodings(10_000), Encoder()
    first, *others = objects(100, encodings)

    first.encoded(encode)
    for stored in others:
        stored.encoded(encode)
        first.encoded(encode)

    assert encode.count == 100


def test_what_was_not_asked_for_lately_makes_room() -> None:
    encodings, encode = Encodings(10_000), Encoder()
    old, new = objects(7, encodings), objects(7, encodings)
    for stored in old:
        stored.encoded(encode)

    for _ in range(3):
        for stored in new:
            stored.encoded(encode)
    encode.count = 0
    for stored in new:
        stored.encoded(encode)

    assert encode.count == 0
    assert encodings.statistics()["dropped"] == 7


def test_what_is_larger_than_the_limit_is_not_kept() -> None:
    encodings, encode = Encodings(500), Encoder()
    (stored,) = objects(1, encodings)

    assert stored.encoded(encode) == stored.encoded(encode)
    assert encode.count == 2
    assert kept_bytes(encodings) == 0
