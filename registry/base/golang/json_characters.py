"""Characters of JSON texts that are none: Go reads U+FFFD in their place, where others refuse the text.

Pure. Must hold: a text without such characters is left as it is, at next to no cost.
"""

import codecs
import re

_REPLACED = b"\\ufffd"
_ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|[^u])")
"""An escape, and the second half of a pair behind it."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def readable(text: bytes) -> bytes:
    """The text with U+FFFD for each byte that is no part of UTF-8, and for each half of a pair that is alone."""
    if not text.isascii():
        text = text.decode(errors=_EACH_BYTE).encode()
    return _ESCAPE.sub(_mended, text) if _SURROGATE.search(text) else text


def _mended(match: re.Match[bytes]) -> bytes:
    first, second = match.groups()
    if first is None or first[:1] not in b"dD" or first[1:2] in b"01234567":
        return match[0] if second is None else match[0][:6] + _REPLACED
    if first[1:2] in b"89abAB":
        return match[0] if second is not None else _REPLACED
    return _REPLACED if second is None else _REPLACED * 2


_EACH_BYTE = "each-byte-replaced"


def _replace_each(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\ufffd" * (error.end - error.start), error.end


codecs.register_error(_EACH_BYTE, _replace_each)
