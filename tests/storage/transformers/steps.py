"""Steps for transformer tests: a runner without event loop, and a protobuf codec."""

from collections.abc import Coroutine, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

Field = tuple[int, bytes | int]


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that must not suspend, because lists of thousands of values rely on it."""
    try:
        coroutine.send(None)
    except StopIteration as finished:
        result: T = finished.value
        return result
    coroutine.close()
    raise AssertionError("the coroutine suspended")


def flipped(data: bytes, bit: int) -> bytes:
    """The data with one bit changed."""
    return data[: bit // 8] + bytes([data[bit // 8] ^ (1 << bit % 8)]) + data[bit // 8 + 1 :]


def message(fields: Sequence[Field]) -> bytes:
    """A protobuf message of varint and length-delimited fields, in the order given."""
    encoded = b""
    for number, value in fields:
        if isinstance(value, int):
            encoded += _varint(number << 3) + _varint(value)
        else:
            encoded += _varint(number << 3 | 2) + _varint(len(value)) + value
    return encoded


def fields(data: bytes) -> dict[int, list[Any]]:
    """The values of a protobuf message by their field numbers."""
    found: dict[int, list[Any]] = {}
    octets = iter(data)
    for first in octets:
        tag = _read_varint(octets, first)
        value: bytes | int = _read_varint(octets, next(octets))
        if tag & 7 == 2:
            value = bytes(next(octets) for _ in range(int(value)))
        found.setdefault(tag >> 3, []).append(value)
    return found


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _read_varint(octets: Iterator[int], first: int) -> int:
    return first & 0x7F | (_read_varint(octets, next(octets)) << 7 if first & 0x80 else 0)
