"""Enums: whether a value is one of those that a schema lists.

Must hold: a long list costs as little as a short one, and an error shows only so much of it.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import orjson

from aio_apiserver.registry.base.validation import field

_MOST_SHOWN = 16 * 1024
"""Characters of listed values in one error."""


class Allowed:
    """The values of an enum. A number is looked at as what the listed one is: 1.5 passes where 1 is listed."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values
        self._plain = {value for value in values if isinstance(value, str)}
        self._whole = {value for value in values if type(value) is int}
        self._broken = {value for value in values if isinstance(value, float)}
        self._others = {_key(value) for value in values if isinstance(value, bool | dict | list)}

    def holds(self, value: Any) -> bool:
        """Whether a value is listed; null never is."""
        if isinstance(value, str):
            return value in self._plain
        if type(value) is int:
            return value in self._whole or value in self._broken
        if isinstance(value, float):
            return value in self._broken or int(value) in self._whole
        return value is not None and _key(value) in self._others

    @cached_property
    def shown(self) -> Sequence[str]:
        """The values as an error lists them, up to a length."""
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
