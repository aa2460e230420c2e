"""Times of the first thousand years in protobuf."""

from aio_apiserver.registry.machinery.serializers.protobuf import leaf_readers

SECONDS_BEFORE_1970 = 62_135_596_800 - 86_400


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def test_a_year_before_1000_keeps_its_zeros() -> None:
    content = b"\x08" + varint(-SECONDS_BEFORE_1970)

    assert leaf_readers.time(content) == "0001-01-02T00:00:00Z"
    assert leaf_readers.micro_time(content) == "0001-01-02T00:00:00.000000Z"
