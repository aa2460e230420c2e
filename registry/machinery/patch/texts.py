"""JSON text of what patches make: as it is decoded, but for what knows how it was written. Pure.

Numbers know it, and so do objects in which a patch says a member twice: whoever decodes the result has to see that.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from aio_apiserver.registry.base.golang import json_numbers
from aio_apiserver.registry.machinery.schema import strict

Pairs = Sequence[tuple[str, Any]]


class Repeated(dict[str, Any]):
    """An object with repeated members, of which the last ones count. `pairs` are all, until somebody looks into it."""

    def __init__(self, pairs: Pairs) -> None:
        super().__init__(pairs)
        self.pairs: Pairs | None = pairs


def as_written(text: bytes) -> Any:
    """The value of a JSON text, in which numbers and objects know how they were written."""
    return strict.with_literals(text, make_object=_object)


def _object(pairs: Pairs) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else Repeated(pairs)


def written(value: Any) -> bytes:
    """The text of a value. Raises orjson.JSONEncodeError when it is nested too deeply."""
    return orjson.dumps(value, default=_as_written, option=orjson.OPT_PASSTHROUGH_SUBCLASS)


def _as_written(value: json_numbers.Literal | Repeated) -> Any:
    if isinstance(value, json_numbers.Literal):
        return orjson.Fragment(value.text.encode())
    if value.pairs is None:
        return dict(value)
    members = (orjson.dumps(name) + b":" + written(item) for name, item in value.pairs)
    return orjson.Fragment(b"{" + b",".join(members) + b"}")
