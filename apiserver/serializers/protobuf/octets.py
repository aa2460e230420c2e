"""Octets: bytes as a text of which each character is one byte (Latin-1), the form in which messages are put together.

Most of an object is ASCII text, whose characters are its bytes: so parts of a message are joined by formatting, with
no encoding of each, and the length of a text is the number of its bytes. Pure; knows no message.

Must hold: whatever text of an object comes into a message was made octets before (`of_value`, `value_in`).
"""

from typing import Any

import orjson

from aio_apiserver.apiserver.serializers.protobuf.encoding import varint

_KEPT_BELOW = 1 << 14


class _Varints(dict[int, str]):
    """The octets of numbers as varints; those of up to two bytes are made once."""

    def __missing__(self, number: int) -> str:
        written = varint(int(number)).decode("latin-1")
        if 0 <= number < _KEPT_BELOW:
            self[number] = written
        return written


VARINTS = _Varints()


def of_value(value: Any) -> Any:
    """A value whose texts are octets. Raises TypeError for text that is no UTF-8."""
    text = orjson.dumps(value)
    return value if text.isascii() else value_in(text)


def value_in(json: bytes) -> Any:
    """What JSON holds, with texts as octets."""
    return orjson.loads(json if json.isascii() else json.decode("latin-1"))


def of_bytes(content: bytes) -> str:
    return content.decode("latin-1")


def to_bytes(octets: str) -> bytes:
    return octets.encode("latin-1")


def delimited(octets: str) -> str:
    """Octets behind their length."""
    return VARINTS[len(octets)] + octets
