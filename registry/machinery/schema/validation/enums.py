"""Enums: the values that a schema allows.

Must hold: the check costs the same for long and short lists, and an error shows a limited part of a long list.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import orjson

from aio_apiserver.registry.base.validation import field

_MOST_SHOWN = 16 * 1024
"""The number of characters of allowed values in one error."""


class Allowed:
    """The values of an enum. A float is truncated before it is compared with integers, as upstream: 1.5 matches 1."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values
        self._plain = {value for value in values if isinstance(value, str)}
        self._whole = {value for value in values if type(value) is int}
        self._broken = {value for value in values if isinstance(value, float)}
        self._others = {_key(value) for value in values if isinstance(value, bool | dict | list)}

    def holds(self, value: Any) -> bool:
        """Whether the value is listed. Null is not."""
        if isinstance(value, str):
            return value in self._plain
        if type(value) is int:
            return value in self._whole or value in self._broken
        if isinstance(value, float):
            return value in self._broken or int(value) in self._whole
        return value is not None and _key(value) in self._others

    @cached_property
    def texts(self) -> Sequence[str]:
        """The values as an error lists them, up to a limit."""
        return list(_first(one if isinstance(one, str) else field.show(one) for one in self._values))


def _key(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _first(texts: Iterable[str]) -> Iterable[str]:
    left = _MOST_SHOWN
    for text in texts:
        left -= len(text)
        if left < 0:
            yield "..."
            return
        yield text
