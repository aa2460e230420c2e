"""Expansion: the fields that the words of a command become: variables, substitutions, splitting, and names of files.

It runs no command itself: the process that it expands for substitutes the output of scripts. Must hold: a text is paid
before it is made.
"""

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Protocol

from aio_apiserver.simulation.containers import arithmetic, lexer
from aio_apiserver.simulation.containers.process_budget import ProcessBudget
from aio_apiserver.simulation.containers.steps import Step
from aio_apiserver.simulation.containers.syntax import Arithmetic, Part, Substitution, Text, Variable, Word

_BLANKS = re.compile(r"[ \t\n]+")
_STEPS_OF_A_PART = 4
_BYTES_OF_A_FIELD = 64
_CHARACTERS_A_STEP = 64
Texts = Generator[Step, bytes | None, str]


class Process(Protocol):
    """What expansion needs of a shell. `arguments` begins with the name of the script."""

    env: dict[str, str]
    arguments: Sequence[str]
    code: int
    budget: ProcessBudget

    def assign(self, name: str, value: str) -> None:
        """Give a variable a value."""
        ...

    def substitute(self, script: str) -> Texts:
        """The output of a script."""
        ...

    def matching(self, pattern: str) -> list[str]:
        """The paths of files that match a pattern."""
        ...


def fields(process: Process, words: Iterable[Word]) -> Generator[Step, bytes | None, list[str]]:
    """The fields of words."""
    result: list[str] = []
    for word in words:
        if any(isinstance(part, Variable) and part.name == "@" and part.is_quoted for part in word):
            _pay_fields(process, len(process.arguments))
            result += process.arguments[1:]
            continue
        values: list[tuple[str, bool]] = []
        for part in word:
            text = yield from _value(process, part)
            values.append((text, isinstance(part, Text | Arithmetic) or part.is_quoted))
        split = _split(process, values)
        result += (process.matching(split[0]) if len(split) == 1 and _is_pattern(word) else ()) or split
    return result


def _is_pattern(word: Word) -> bool:
    """Whether a word stands for names of files."""
    return any(isinstance(part, Text) and not part.is_quoted and set(part.text) & set("*?") for part in word)


def _pay_fields(process: Process, count: int) -> None:
    process.budget.spend(count)
    process.budget.make(count * _BYTES_OF_A_FIELD)


def _split(process: Process, values: Iterable[tuple[str, bool]]) -> list[str]:
    """Join the values of a word, and split those that are not whole at blanks."""
    result: list[str] = []
    current: list[str] | None = None
    for text, is_whole in values:
        process.budget.make(len(text))
        first, *others = (text,) if is_whole else _pieces(process, text)
        if first or is_whole:
            current = current or []
            current.append(first)
        for piece in others:
            if current is not None:
                result.append("".join(current))
            current = [piece] if piece else None
    return [*result, "".join(current)] if current is not None else result


def _pieces(process: Process, text: str) -> Sequence[str]:
    """The texts between the blanks of a text; the first one is empty for a text that begins with blanks."""
    process.budget.spend(len(text) // _CHARACTERS_A_STEP)
    _pay_fields(process, 1 + sum(map(text.count, " \t\n")))
    return _BLANKS.split(text)


def joined(process: Process, word: Word) -> Texts:
    """A word as one text."""
    texts: list[str] = []
    for part in word:
        text = yield from _value(process, part)
        process.budget.make(len(text))
        texts.append(text)
    return "".join(texts)


def _value(process: Process, part: Part) -> Texts:
    process.budget.spend(_STEPS_OF_A_PART)
    match part:
        case Text():
            return part.text
        case Variable():
            return (yield from _variable(process, part))
        case Arithmetic():
            process.budget.spend(len(part.expression))
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
            process.assign(part.name, value)
    elif kind == "+":
        value = "" if is_missing else (yield from _default(process, part.default))
    return value or ""


def _default(process: Process, text: str) -> Texts:
    process.budget.spend(2 * len(text))
    values: list[str] = []
    for token in lexer.tokens(text):
        if token.word:
            values.append((yield from joined(process, token.word)))
            process.budget.make(len(values[-1]))
    return " ".join(values)


def _all_arguments(process: Process) -> str:
    process.budget.spend(len(process.arguments))
    process.budget.make(sum(map(len, process.arguments)) + len(process.arguments))
    return " ".join(process.arguments[1:])


_SPECIAL: dict[str, Callable[[Process], str]] = {
    "?": lambda process: str(process.code),
    "#": lambda process: str(max(0, len(process.arguments) - 1)),
    "@": _all_arguments,
    "*": _all_arguments,
    "$": lambda _process: "1",
    "0": lambda process: process.arguments[0] if process.arguments else "sh",
}


def _named(process: Process, name: str) -> str | None:
    if name in _SPECIAL:
        return _SPECIAL[name](process)
    if name.isdigit():
        return process.arguments[int(name)] if int(name) < len(process.arguments) else None
    return process.env.get(name)
