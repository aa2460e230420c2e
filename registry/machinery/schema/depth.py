"""Depth: the limits for the nesting of JSON in Kubernetes objects, and for the number of its maps and lists.

kube-apiserver reads to a depth of 10,000. orjson writes to 254. An object must fit into that together with the levels
around it: the items of a list, an audit event, an admission review, a patch.

A map takes two bytes of a body, and a hundred times that in memory. A million empty containers would take gigabytes
with their defaults and the errors about them.

Pure. Must hold: an accepted object can be written in all these places, and a written object is accepted again.
"""

import re
from typing import Any

import orjson

from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP, DecodeError

WRITTEN = 254
"""The nesting of maps and lists that orjson writes."""
AROUND = 14
"""The levels that may be written around an object."""
MOST = WRITTEN - AROUND
"""The nesting that is read. Specs of custom resources have less: their managed fields nest as deep, further inside."""
MOST_VALUES = 131_072
"""The maps and lists that are read in one body. Those of usual objects take more than twenty bytes each."""
_TOO_MANY = f"exceeded max number of maps and lists: {MOST_VALUES}"
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def check(value: Any, text: bytes = b"") -> None:
    """Refuse plain JSON that is nested too deeply, or that has too many maps and lists; often the count of brackets is
    enough. Raises DecodeError.
    """
    if text and _brackets(text) <= MOST:
        return
    for _ in range(AROUND):
        value = [value]
    try:
        dumped = orjson.dumps(value)
    except orjson.JSONEncodeError:
        raise DecodeError(TOO_DEEP) from None
    if _brackets(dumped) > MOST_VALUES and _brackets(_STRING.sub(b"", dumped)) > MOST_VALUES + AROUND:
        raise DecodeError(_TOO_MANY)


def _brackets(text: bytes) -> int:
    """The number of opening brackets, including those in strings."""
    return text.count(b"{") + text.count(b"[")
