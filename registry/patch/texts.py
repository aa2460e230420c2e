"""JSON text of what patches make: as it is decoded, but for numbers that know how they were written. Pure."""

from typing import Any

import orjson

from registry.schema import numbers


def written(value: Any) -> bytes:
    """The text of a value. Raises orjson.JSONEncodeError when it is nested too deeply."""
    return orjson.dumps(value, default=_as_written)


def _as_written(literal: numbers.Literal) -> orjson.Fragment:
    return orjson.Fragment(literal.text.encode())
