r"""Quoting: text in double quotes as Go's strconv.Quote writes it in the messages of kube-apiserver.

Pure. Must hold: the result is valid UTF-8 without control characters, for any text. Bytes that were not valid UTF-8
(lone surrogates of `surrogateescape`) become \x escapes.
"""

from collections.abc import Mapping

ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}
_BACKSLASH = "\\"
_MOST_PASSES = 8
"""A pass over a text for each escape is faster than one pass with a table, up to so many."""


def quote(text: str) -> str:
    r"""The text in quotes, with escapes for characters that do not print.

    >>> print(quote('say "hi"\n'))
    "say \"hi\"\n"
    """
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    escapes = {character: _escape(character) for character in set(text) if not _is_plain(character)}
    return f'"{_replaced(text, escapes)}"'


def _is_plain(character: str) -> bool:
    return character.isprintable() and character not in ESCAPES


def _replaced(text: str, escapes: Mapping[str, str]) -> str:
    """The text with these escapes. Messages quote whole fields: a call for each character would take long."""
    if len(escapes) > _MOST_PASSES:
        return text.translate({ord(character): escape for character, escape in escapes.items()})
    for character in sorted(escapes, key=_BACKSLASH.__ne__):  # the backslash first: the other escapes have it
        text = text.replace(character, escapes[character])
    return text


def _escape(character: str) -> str:
    named = ESCAPES.get(character)
    if named is not None:
        return named
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
