"""Depth: the limit for the nesting of JSON in Kubernetes objects.

kube-apiserver reads to a depth of 10,000. orjson writes to 254. An object must fit into that together with the levels
around it: the items of a list, an audit event, an admission review, a patch.

Pure. Must hold: an accepted object can be written in all these places, and a written object is accepted again.
"""

from typing import Any

import orjson

from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP, DecodeError

WRITTEN = 254
"""The nesting of maps and lists that orjson writes."""
AROUND = 14
"""The levels that may be written around an object."""
MOST = WRITTEN - AROUND
"""The nesting that is read. Specs of custom resources have less: their managed fields nest as deep, further inside."""


def check(value: Any, text: bytes = b"") -> None:
    """Refuse plain JSON that is nested too deeply; often the count of brackets is enough. Raises DecodeError."""
    if text and text.count(b"{") + text.count(b"[") <= MOST:
        return
    for _ in range(AROUND):
        value = [value]
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        raise DecodeError(TOO_DEEP) from None
