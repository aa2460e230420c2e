"""Lexer: the words and operators of a shell script.

Pure. Raises ScriptError for quotes and brackets that do not end.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from aio_apiserver.simulation.containers.syntax import Arithmetic, Part, Substitution, Text, Variable, Word

_OPERATORS = re.compile(r"\d?>>|\d?>&|&>|\d?>|<|&&|\|\||;;|[;&|()\n]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9?#@*$!]")
_BRACED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*|[0-9?#@*])(:?[-+=])?(.*)", re.DOTALL)
_PLAIN = re.compile(r"[^ \t\r'\"$`\\;&|()<>\n]+")
_BLANKS = " \t\r"
_SPECIAL_IN_QUOTES = '$`"\\\n'


class ScriptError(ValueError):
    """The simulated shell cannot read a script."""


class Lexeme(NamedTuple):
    """An operator, or a word; the empty operator ends a script."""

    operator: str
    word: Word = ()

    @property
    def plain(self) -> str:
        """The text of a word without quotes and expansions; empty for other tokens."""
        if len(self.word) == 1 and isinstance(self.word[0], Text) and not self.word[0].is_quoted:
            return self.word[0].text
        return ""


def tokens(script: str) -> Iterator[Lexeme]:
    """The tokens of a script."""
    at = 0
    while at < len(script):
        if script[at] in _BLANKS:
            at += 1
        elif script.startswith("\\\n", at):
            at += 2
        elif script[at] == "#":
            at = (script.find("\n", at) + len(script) + 1) % (len(script) + 1)
        elif found := _OPERATORS.match(script, at):
            yield Lexeme(found.group())
            at = found.end()
        else:
            word, at = _word(script, at)
            yield Lexeme("", word)
    yield Lexeme("\n")


def _word(script: str, at: int) -> tuple[Word, int]:
    parts: list[Part] = []
    while at < len(script) and script[at] not in _BLANKS and not _ends_word(script, at):
        char = script[at]
        if char == "'":
            end = _find(script, "'", at + 1)
            parts.append(Text(script[at + 1 : end], is_quoted=True))
            at = end + 1
        elif char == '"':
            at = _quoted(script, at + 1, parts)
        elif char in "$`":
            at = _expansion(script, at, parts, is_quoted=False)
        elif char == "\\":
            parts.append(Text(script[at + 1 : at + 2], is_quoted=True))
            at += 2
        else:
            plain = _PLAIN.match(script, at)
            assert plain is not None
            parts.append(Text(plain.group()))
            at = plain.end()
    return tuple(parts), at


def _ends_word(script: str, at: int) -> bool:
    """Whether an operator begins here. A digit before `>` belongs to the operator at the begin of a word alone."""
    return script[at] in ";&|()<>\n"


def _find(script: str, text: str, at: int) -> int:
    end = script.find(text, at)
    if end < 0:
        raise ScriptError(f"unterminated {text}")
    return end


def _quoted(script: str, at: int, parts: list[Part]) -> int:
    """The parts up to the closing double quote. Returns the place behind it."""
    parts.append(Text("", is_quoted=True))
    text = ""
    while True:
        if at >= len(script):
            raise ScriptError("unterminated quoted string")
        char = script[at]
        if char == "\\" and script[at + 1 : at + 2] in _SPECIAL_IN_QUOTES and at + 1 < len(script):
            text += script[at + 1].replace("\n", "")
            at += 2
        elif char in '$`"':
            parts.append(Text(text, is_quoted=True))
            text = ""
            if char == '"':
                return at + 1
            at = _expansion(script, at, parts, is_quoted=True)
        else:
            text += char
            at += 1


def _expansion(script: str, at: int, parts: list[Part], *, is_quoted: bool) -> int:
    """The part that begins with `$` or a backquote. Returns the place behind it."""
    if script[at] == "`":
        end = _find(script, "`", at + 1)
        parts.append(Substitution(script[at + 1 : end], is_quoted))
        return end + 1
    if script.startswith("$((", at):
        end = _find(script, "))", at)
        parts.append(Arithmetic(script[at + 3 : end]))
        return end + 2
    if script.startswith("$(", at):
        end = _closing(script, at + 2, "(", ")")
        parts.append(Substitution(script[at + 2 : end], is_quoted))
        return end + 1
    if script.startswith("${", at):
        end = _closing(script, at + 2, "{", "}")
        found = _BRACED.fullmatch(script, at + 2, end)
        if found is None:
            raise ScriptError(f"bad substitution {script[at : end + 1]}")
        parts.append(Variable(found[1], found[2] or "", found[3], is_quoted))
        return end + 1
    name = _NAME.match(script, at + 1)
    if name is None:
        parts.append(Text("$", is_quoted))
        return at + 1
    parts.append(Variable(name.group(), is_quoted=is_quoted))
    return name.end()


def _closing(script: str, at: int, opening: str, closing: str) -> int:
    """The place of the bracket that closes, with quotes skipped."""
    depth = 1
    while at < len(script):
        char = script[at]
        if char in "'\"":
            at = _find(script, char, at + 1)
        elif char == "\\":
            at += 1
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if not depth:
                return at
        at += 1
    raise ScriptError(f"unterminated {opening}")
