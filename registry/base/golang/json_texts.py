"""JSON texts: reads JSON that a field of an object holds as text, in annotations and secrets, and shortens JSON.

Pure. Must hold: for any text that is read, the outcome is a value that orjson writes, or a ValueError with Go's
message. Code that descends into the value needs no limit of its own. A valid text costs no slow reading.
"""

from typing import Any

import orjson

from aio_apiserver.registry.base.golang import json_characters, json_errors
from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP

_INFINITE = "number is infinity"
_WRITTEN = 254
"""The nesting of maps and lists that orjson writes. It reads more, and Go reads 10,000."""


def value_of(text: bytes) -> Any:
    """The value of a text. Raises ValueError.

    orjson refuses two kinds of texts that Go's scanner accepts: deep ones, and numbers that no float64 holds.
    """
    try:
        value = orjson.loads(json_characters.readable(text))
        if text.count(b"{") + text.count(b"[") > _WRITTEN:
            orjson.dumps(value)
        return value
    except orjson.JSONEncodeError:
        raise ValueError(TOO_DEEP) from None
    except orjson.JSONDecodeError as exc:
        if wrong := json_errors.describe(text):
            raise ValueError(wrong) from None
        if str(exc).startswith(_INFINITE):
            raise ValueError("json: cannot unmarshal number into Go value of type float64") from None
        raise ValueError(TOO_DEEP) from None


_BETWEEN_LINES = b"\t\r\n"
"""Characters that stand between the parts of JSON alone."""


def in_one_line(text: bytes) -> bytes:
    """Valid JSON as one line of valid UTF-8, whatever its depth. Spaces stay in a text that orjson does not write."""
    readable = json_characters.readable(text)
    try:
        return orjson.dumps(orjson.loads(readable))
    except (orjson.JSONEncodeError, orjson.JSONDecodeError):
        return readable.translate(None, _BETWEEN_LINES)
