"""JSON errors: the messages of Go's decoder for text that is not valid JSON.

The callers use it for texts that orjson has refused. It reads the text again, slowly, up to the first mistake.

Pure. Must hold: the scanner reads single bytes, as Go does. A mistake in a multi-byte character is reported by its
first byte.
"""

MAX_DEPTH = 10_000

_END = "unexpected end of JSON input"
_BLANK = frozenset(b" \t\r\n")
_BLANK_AT_END = ord(" ")
_DIGITS = frozenset(b"0123456789")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_ESCAPES = frozenset(b'bfnrt\\/"')
_LITERALS = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}


def describe(text: bytes) -> str:
    """The message for invalid JSON; empty when Go accepts the text."""
    try:
        _Scanner(text).document()
    except _Mistake as exc:
        return str(exc)
    return ""


class _Mistake(Exception):
    """The first mistake in the text."""


class _Scanner:
    """Walks over the text and keeps no values."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0

    def document(self) -> None:
        self._value_with_parts()
        self._skip_blank()
        if self._at < len(self._text):
            self._fail("after top-level value")

    def _value_with_parts(self) -> None:
        """A value with its members. A stack instead of recursion, since the client chooses the depth."""
        open_containers = bytearray()
        while True:
            opened = self._value(len(open_containers))
            if opened:
                open_containers.append(opened)
                continue
            if not self._close(open_containers):
                return

    def _value(self, depth: int) -> int:
        """Read a scalar or empty container (returns 0), or the opening bracket of a container with members (returns
        it).
        """
        self._skip_blank()
        char = self._take()
        if char in b"{[" and depth == MAX_DEPTH:
            self._at -= 1
            self._fail("exceeded max depth")
        if char == ord("{"):
            self._skip_blank()
            if self._is_next("}"):
                self._at += 1
                return 0
            self._key()
            return char
        if char == ord("["):
            self._skip_blank()
            if self._is_next("]"):
                self._at += 1
                return 0
            return char
        self._scalar(char)
        return 0

    def _scalar(self, char: int) -> None:
        if char == ord('"'):
            self._string()
        elif char in _LITERALS:
            self._literal(_LITERALS[char])
        elif char == ord("-") or char in _DIGITS:
            self._number(char)
        else:
            self._at -= 1
            self._fail("looking for beginning of value")

    def _close(self, open_containers: bytearray) -> bool:
        """After a value: closing brackets, then a comma before the next value. False at the end of the text."""
        while open_containers:
            self._skip_blank()
            is_object = open_containers[-1] == ord("{")
            where = "after object key:value pair" if is_object else "after array element"
            char = self._take()
            if char == ord(","):
                if is_object:
                    self._skip_blank()
                    self._key()
                return True
            if char != ord("}" if is_object else "]"):
                self._at -= 1
                self._fail(where)
            open_containers.pop()
        return False

    def _key(self) -> None:
        if self._take() != ord('"'):
            self._at -= 1
            self._fail("looking for beginning of object key string")
        self._string()
        self._skip_blank()
        if self._take() != ord(":"):
            self._at -= 1
            self._fail("after object key")

    def _string(self) -> None:
        while (char := self._take()) != ord('"'):
            if char < 0x20:
                self._at -= 1
                self._fail("in string literal")
            if char == ord("\\"):
                self._escape()

    def _escape(self) -> None:
        char = self._take_or_blank()
        if char == ord("u"):
            for _ in range(4):
                if self._take_or_blank() not in _HEX:
                    self._at -= 1
                    self._fail("in \\u hexadecimal character escape")
        elif char not in _ESCAPES:
            self._at -= 1
            self._fail("in string escape code")

    def _literal(self, word: bytes) -> None:
        for char in word[1:]:
            where = f"in literal {word.decode()} (expecting {_quoted(char)})"
            if self._take_or_blank() != char:
                self._at -= 1
                self._fail(where)

    def _number(self, first: int) -> None:
        if first == ord("-"):
            first = self._digit("in numeric literal")
        if first != ord("0"):
            self._digits()
        if self._is_next("."):
            self._at += 1
            self._digit("after decimal point in numeric literal")
            self._digits()
        if self._is_next("e") or self._is_next("E"):
            self._at += 1
            if self._is_next("+") or self._is_next("-"):
                self._at += 1
            self._digit("in exponent of numeric literal")
            self._digits()

    def _digit(self, where: str) -> int:
        char = self._take_or_blank()
        if char not in _DIGITS:
            self._at -= 1
            self._fail(where)
        return char

    def _digits(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in _DIGITS:
            self._at += 1

    def _skip_blank(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in _BLANK:
            self._at += 1

    def _is_next(self, char: str) -> bool:
        return self._at < len(self._text) and self._text[self._at] == ord(char)

    def _take(self) -> int:
        if self._at >= len(self._text):
            raise _Mistake(_END)
        self._at += 1
        return self._text[self._at - 1]

    def _take_or_blank(self) -> int:
        """The next byte of a number, a literal or an escape. At the end of the text, Go's scanner reads a blank."""
        if self._at < len(self._text):
            return self._take()
        self._at += 1
        return _BLANK_AT_END

    def _fail(self, where: str) -> None:
        char = self._text[self._at] if self._at < len(self._text) else _BLANK_AT_END
        raise _Mistake(f"invalid character {_quoted(char)} {where}")


def _quoted(char: int) -> str:
    if char == ord("'"):
        return r"'\''"
    if char == ord('"'):
        return "'\"'"
    if char == ord("\\"):
        return r"'\\'"
    named = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}.get(char)
    if named is not None:
        return f"'{named}'"
    if char < 0x20 or char == 0x7F:
        return f"'\\x{char:02x}'"
    shown = chr(char)
    return f"'{shown}'" if shown.isprintable() else f"'\\u{char:04x}'"
