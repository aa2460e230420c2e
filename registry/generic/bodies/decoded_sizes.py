"""Decoded sizes: how much memory the object in a body takes while it is written, estimated from the body's bytes.

A map takes two bytes of JSON, and with its defaults, its copies and its managed fields hundreds of bytes in memory. A
short key of YAML takes even more. The figures were measured with bodies of one kind of value each.

Pure, and nothing is decoded. Must hold: a body whose object takes much memory is not estimated as a short one.
"""

import re

from aio_apiserver.registry.machinery.serializers.protobuf.envelope import MAGIC

EXPANDED = 64 * 1024 * 1024
"""The estimate for YAML with aliases, which a few bytes may fill."""
_MAP_OR_LIST = 500
_QUOTE = 150
_COMMA = 60
_LINE = 900
_ALIAS = re.compile(rb"[\s,\[{:-]\*\w")
_ANCHOR = re.compile(rb"[\s,\[{:-]&\w")
_MESSAGE_BYTES = 8
"""The bytes of a usual message in protobuf. Empty ones are counted."""


def decoded_bytes(text: bytes | bytearray) -> int:
    """The estimate for a body in JSON, YAML or protobuf."""
    if text.startswith(MAGIC):
        return _MAP_OR_LIST * (text.count(b"\0") + len(text) // _MESSAGE_BYTES)
    size = _MAP_OR_LIST * (text.count(b"{") + text.count(b"["))
    if text[:64].lstrip()[:1] in (b"{", b"["):
        return size + _QUOTE * text.count(b'"') + _COMMA * text.count(b",")
    if _ALIAS.search(text) and _ANCHOR.search(text):
        return EXPANDED
    return size + _LINE * text.count(b"\n") + _MAP_OR_LIST * text.count(b",")
