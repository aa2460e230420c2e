"""encoding: the wire format of Protocol Buffers: tags, varints and lengths, both ways."""

from collections.abc import Iterator, Mapping

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_END_OF_GROUP = 4

_MAX_VARINT_BYTES = 10
_SIGN = 1 << 63
_WRAP = 1 << 64


class Malformed(ValueError):
    """Bytes that are not a message."""


def read_fields(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Each field: its number, its value if it is a number (else 0), and its bytes if it has a length (else empty)."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == LENGTH:
            size, at = read_varint(data, at)
            yield number, 0, _slice(data, at, size)
            at += size
        else:
            value, content, at = read_number(data, at, kind)
            yield number, value, content


def read_delimited(data: bytes, names: Mapping[int, str], message: str) -> Mapping[int, bytes]:
    """The contents of the fields of a message by their numbers, which have a length. Others are passed over.

    names: the fields that are known, with their names in Go. Raises Malformed in the words of Go's generated code.
    """
    found: dict[int, bytes] = {}
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _END_OF_GROUP:
            raise Malformed(f"proto: {message}: wiretype end group for non-group")
        if not number:
            raise Malformed(f"proto: {message}: illegal tag 0 (wire type {kind})")
        if kind == LENGTH:
            size, at = read_varint(data, at)
            if size >= _SIGN:
                raise Malformed("proto: negative length found during unmarshaling")
            found[number] = _slice(data, at, size)
            at += size
        elif number in names:
            raise Malformed(f"proto: wrong wireType = {kind} for field {names[number]}")
        else:
            _, _, at = read_number(data, at, kind)
    return found


def read_number(data: bytes, at: int, kind: int) -> tuple[int, bytes, int]:
    """The value of a field without a length: a number or some bytes, and the next position."""
    if kind == VARINT:
        value, at = read_varint(data, at)
        return value, b"", at
    if kind not in (FIXED64, FIXED32):
        raise Malformed(f"proto: illegal wireType {kind}")
    size = 8 if kind == FIXED64 else 4
    return 0, _slice(data, at, size), at + size


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a position, and the next position."""
    if at < len(data) and data[at] < 0x80:
        return data[at], at + 1
    value = shift = 0
    for position in range(at, min(at + _MAX_VARINT_BYTES, len(data))):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (_WRAP - 1), position + 1
        shift += 7
    raise Malformed("unexpected EOF" if at + _MAX_VARINT_BYTES > len(data) else "proto: integer overflow")


def signed(value: int) -> int:
    """A varint as a signed 64-bit number."""
    return value - _WRAP if value >= _SIGN else value


def varint(value: int) -> bytes:
    """A number of 64 bits; negative ones take ten bytes."""
    value %= _WRAP
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def tag(number: int, kind: int) -> bytes:
    """The tag of a field: its number and wire type."""
    return varint(number << 3 | kind)


def delimited(value: bytes) -> bytes:
    """Bytes with their length in front."""
    return varint(len(value)) + value


def _slice(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise Malformed("unexpected EOF")
    return data[at : at + size]
