r"""Text in double quotes the way kube-apiserver's messages have it.

Pure. Must hold: the result is valid UTF-8 and has no control character, whatever the text; bytes that were no UTF-8
(lone surrogates of `surrogateescape`) show as \x escapes.
"""

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


def quote(text: str) -> str:
    r"""The text in quotes, with escapes for what cannot be seen.

    >>> print(quote('say "hi"\n'))
    "say \"hi\"\n"
    """
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escape, text)) + '"'


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
