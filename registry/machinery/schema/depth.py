"""Depth: how deeply the JSON of clients may be nested.

kube-apiserver reads to a depth of 10,000. orjson writes to 254: what is read here has to fit into that, together with
what is written around an object: the items of a list, an event of the audit log, an admission review, a patch.
Pure. Must hold: what is accepted can be written wherever an object appears; what was written is accepted again.
"""

from typing import Any

import orjson

from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP, DecodeError

WRITTEN = 254
"""The nesting of maps and lists that orjson writes."""
AROUND = 14
"""The levels that may be written around an object."""
MOST = WRITTEN - AROUND
"""The nesting that is read. Specs of custom resources have fewer: their owners' fields are as deep, deeper inside."""


def check(value: Any, text: bytes = b"") -> None:
    """Refuse plain JSON that is nested too deeply; its text often settles the question. Raises DecodeError."""
    if text and text.count(b"{") + text.count(b"[") <= MOST:
        return
    for _ in range(AROUND):
        value = [value]
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        raise DecodeError(TOO_DEEP) from None
