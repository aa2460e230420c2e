"""Expansion: the fields that the words of a command become: variables, substitutions, splitting, and names of files.

It runs no command itself: the process that it expands for substitutes the output of scripts.
"""

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Protocol

from aio_apiserver.simulation.containers import arithmetic, lexer
from aio_apiserver.simulation.containers.steps import Step
from aio_apiserver.simulation.containers.syntax import Arithmetic, Part, Substitution, Text, Variable, Word

_PIECES = re.compile(r"\s+|\S+")
Texts = Generator[Step, bytes | None, str]


class Process(Protocol):
    """What expansion needs of a shell. `arguments` begins with the name of the script."""

    env: dict[str, str]
    arguments: Sequence[str]
    code: int

    def substitute(self, script: str) -> Texts:
        """The output of a script."""
        ...

    def matching(self, pattern: str) -> list[str]:
        """The paths of files that match a pattern."""
        ...


def fields(process: Process, words: Iterable[Word]) -> Generator[Step, bytes | None, list[str]]:
    """The fields of words."""
    found: list[str] = []
    for word in words:
        if any(isinstance(part, Variable) and part.name == "@" and part.is_quoted for part in word):
            found += process.arguments[1:]
            continue
        values: list[tuple[str, bool]] = []
        for part in word:
            text = yield from _value(process, part)
            values.append((text, isinstance(part, Text | Arithmetic) or part.is_quoted))
        split = _split(values)
        found += (process.matching(split[0]) if len(split) == 1 and _is_pattern(word) else ()) or split
    return found


def _is_pattern(word: Word) -> bool:
    """Whether a word stands for names of files."""
    return any(isinstance(part, Text) and not part.is_quoted and set(part.text) & set("*?") for part in word)


def _split(values: Iterable[tuple[str, bool]]) -> list[str]:
    """Join the values of a word, and split those that are not whole at blanks."""
    found: list[str] = []
    current: str | None = None
    for text, is_whole in values:
        for piece in (text,) if is_whole else _PIECES.findall(text):
            is_gap = not is_whole and piece.isspace()
            if is_gap and current is not None:
                found.append(current)
            current = None if is_gap else (current or "") + piece
    return [*found, current] if current is not None else found


def joined(process: Process, word: Word) -> Texts:
    """A word as one text."""
    text = ""
    for part in word:
        text += yield from _value(process, part)
    return text


def _value(process: Process, part: Part) -> Texts:
    match part:
        case Text():
            return part.text
        case Variable():
            return (yield from _variable(process, part))
        case Arithmetic():
            return str(arithmetic.value(part.expression, process.env))
        case Substitution():
            return (yield from process.substitute(part.script))


def _variable(process: Process, part: Variable) -> Texts:
    value = _named(process, part.name)
    is_missing = value is None or (part.operator.startswith(":") and not value)
    kind = part.operator.lstrip(":")
    if kind in ("-", "=") and is_missing:
        value = yield from _default(process, part.default)
        if kind == "=":
            process.env[part.name] = value
    elif kind == "+":
        value = "" if is_missing else (yield from _default(process, part.default))
    return value or ""


def _default(process: Process, text: str) -> Texts:
    value = ""
    for token in lexer.tokens(text):
        if token.word:
            value += " " if value else ""
            value += yield from joined(process, token.word)
    return value


_SPECIAL: dict[str, Callable[[Process], str]] = {
    "?": lambda process: str(process.code),
    "#": lambda process: str(max(0, len(process.arguments) - 1)),
    "@": lambda process: " ".join(process.arguments[1:]),
    "*": lambda process: " ".join(process.arguments[1:]),
    "$": lambda _process: "1",
    "0": lambda process: process.arguments[0] if process.arguments else "sh",
}


def _named(process: Process, name: str) -> str | None:
    if name in _SPECIAL:
        return _SPECIAL[name](process)
    if name.isdigit():
        return process.arguments[int(name)] if int(name) < len(process.arguments) else None
    return process.env.get(name)
