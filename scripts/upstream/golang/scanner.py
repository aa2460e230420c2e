"""Scanner: cuts a Go source file into tokens.

Each token has its line and the comment above it. Semicolons are inserted at the ends of lines, as Go's own scanner
does.
"""

import ast
import re
from collections.abc import Sequence
from typing import NamedTuple

from scripts.upstream.problems import NotUnderstood

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r]+)
  | (?P<newline>\n)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<name>[^\W\d]\w*)
  | (?P<number>0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+(?![\d.])
      |\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)
  | (?P<raw>`[^`]*`)
  | (?P<text>"(?:[^"\\\n]|\\.)*")
  | (?P<rune>'(?:[^'\\\n]|\\.)[^']*')
  | (?P<operator><<=|>>=|&\^=|\.\.\.|&&|\|\||<-|\+\+|--|==|!=|<=|>=
      |:=|\+=|-=|\*=|/=|%=|&=|\|=|\^=|<<|>>|&\^|[-+*/%&|^<>=!()\[\]{},;.:~])
    """,
    re.VERBOSE | re.DOTALL,
)
_ENDS = frozenset({"name", "number", "raw", "text", "rune"})
_ENDING_OPERATORS = frozenset({"++", "--", ")", "]", "}"})
_GO_ON = frozenset(
    "case chan const default defer else for func go goto if import interface map package range select struct switch "
    "type var".split()
)
"""Keywords after which a line goes on."""

END = "end"


class Token(NamedTuple):
    """A token. kind: name, number, text, rune, operator or end. doc: the comment in the lines directly above it."""

    kind: str
    text: str
    line: int
    doc: Sequence[str] = ()


def tokens(path: str, source: str) -> list[Token]:
    """The tokens of a file. Raises NotUnderstood."""
    scan = _Scan(path, source)
    position = 0
    while position < len(source):
        match = _TOKEN.match(source, position)
        if match is None:
            raise NotUnderstood(path, scan.line, f"no token of Go: {source[position : position + 20]!r}")
        scan.add(match.lastgroup or "", match[0])
        position = match.end()
    scan.end()
    return scan.tokens


class _Scan:
    """The state between two tokens: the line, and the comment that waits for its token."""

    def __init__(self, path: str, source: str) -> None:
        self.tokens: list[Token] = []
        self.line = 1
        self._path = path
        self._doc: list[str] = []
        self._is_new_line = True

    def add(self, kind: str, text: str) -> None:
        if kind == "newline":
            self._end_line()
        elif kind == "comment":
            self._comment(text)
        elif kind != "space":
            self._token(kind, text)
        self.line += text.count("\n")

    def end(self) -> None:
        self._semicolon()
        self.tokens.append(Token(END, "", self.line))

    def _end_line(self) -> None:
        self._semicolon()
        if self._is_new_line:
            self._doc = []
        self._is_new_line = True

    def _comment(self, text: str) -> None:
        """A comment that begins a line belongs to the next token; one behind a token belongs to nothing."""
        if self._is_new_line:
            body = text[2:] if text.startswith("//") else text[2:-2]
            self._doc += [line.strip() for line in body.splitlines()] or [""]
            self._is_new_line = False

    def _token(self, kind: str, text: str) -> None:
        if kind in {"text", "raw"}:
            kind, text = "text", _unquoted(text)
        self.tokens.append(Token(kind, text, self.line, tuple(self._doc)))
        self._doc = []
        self._is_new_line = False

    def _semicolon(self) -> None:
        if not self.tokens:
            return
        last = self.tokens[-1]
        ends = last.text in _ENDING_OPERATORS if last.kind == "operator" else last.kind in _ENDS
        if ends and not (last.kind == "name" and last.text in _GO_ON):
            self.tokens.append(Token("operator", ";", last.line))


def _unquoted(text: str) -> str:
    """The value of a text; Python reads Go's escapes, but for octal ones and `\\a`."""
    if text.startswith("`"):
        return text[1:-1].replace("\r", "")
    value: str = ast.literal_eval(text)
    return value
