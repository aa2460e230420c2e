"""Octets: protobuf bytes as a text with one character for each byte (Latin-1), from which messages are joined.

Most texts of an object are ASCII: their characters are their bytes already. So the parts of a message are joined by
formatting, without encoding each part. The length of a text is its number of bytes. Pure; knows no message.

Must hold: every text was made octets (`of_value`, `value_in`) before it comes into a message.
"""

from typing import Any

import orjson

from aio_apiserver.registry.machinery.serializers.protobuf.encoding import varint

_KEPT_BELOW = 1 << 14


class _Varints(dict[int, str]):
    """The octets of numbers as varints; those of up to two bytes are cached."""

    def __missing__(self, number: int) -> str:
        written = varint(int(number)).decode("latin-1")
        if 0 <= number < _KEPT_BELOW:
            self[number] = written
        return written


VARINTS = _Varints()


def of_value(value: Any) -> Any:
    """A value whose texts are octets. Raises TypeError for text that is not valid Unicode."""
    text = orjson.dumps(value)
    return value if text.isascii() else value_in(text)


def value_in(json: bytes) -> Any:
    """The value of a JSON text, with texts as octets."""
    return orjson.loads(json if json.isascii() else json.decode("latin-1"))


def of_bytes(content: bytes) -> str:
    return content.decode("latin-1")


def to_bytes(octets: str) -> bytes:
    return octets.encode("latin-1")


def delimited(octets: str) -> str:
    """Octets with their length in front."""
    return VARINTS[len(octets)] + octets
