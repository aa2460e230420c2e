"""JSON characters: replaces invalid UTF-8 and lone surrogates in JSON by U+FFFD, as Go's decoder does.

Pure. orjson refuses such texts. Must hold: a text without them is returned unchanged, at low cost.
"""

import codecs
import re

_REPLACED = b"\\ufffd"
_ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|[^u])")
"""An escape; for a surrogate also the second half of its pair."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def readable(text: bytes) -> bytes:
    """The text with U+FFFD for each byte that is not valid UTF-8 and for each lone surrogate."""
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
