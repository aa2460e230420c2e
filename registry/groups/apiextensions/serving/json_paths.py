"""JSON paths: reads JSONPath as printer columns have it, `.spec.list[?(@.type=="Ready")].status`.

A path is read as client-go's jsonpath reads it between braces. A brace ends the path. A part behind another brace is
evaluated for its errors alone.

Pure. Must hold: reading takes a time that grows with the length of the text alone. An invalid path raises
InvalidJSONPath.
"""

import math
import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.base.text_caches import remember_short
from aio_apiserver.registry.groups.apiextensions.serving import json_path_steps
from aio_apiserver.registry.groups.apiextensions.serving.json_path_steps import ElementRange, Step, Values

LONGEST = 4096
"""Characters. kube-apiserver has no limit but that of the definition."""


class InvalidJSONPath(Exception):
    """The text is no valid path."""


_NAME = re.compile(r"(?:\\.|[^ \t\r\n.,\[\]$@{}\\])*+", re.DOTALL)
_KEY = re.compile(r"'([^']*)'")
_RANGE = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?", re.ASCII)
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL)
_NUMBER = re.compile(r"[-+]?[0-9.]*", re.ASCII)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)|(['\"])", re.DOTALL)
_ESCAPED = dict(zip("abfnrtv\\", "\a\b\f\n\r\t\v\\", strict=True))
_BEYOND_INT64 = 2**63


class JSONPath(Struct, frozen=True):
    """A path that was read."""

    actions: Sequence[Sequence[Step]]

    def find(self, value: Any, budget: Budget) -> Values:
        """The values at the path. Raises Unevaluable, BudgetExceeded."""
        values, *_ = [json_path_steps.run(steps, (value,), budget) for steps in self.actions]
        return values


@remember_short(4096)
def compiled(path: str) -> JSONPath:
    """The path in a text. Raises InvalidJSONPath."""
    if len(path) > LONGEST:
        raise InvalidJSONPath(f"it has {len(path)} characters, and {LONGEST} are allowed")
    text, start = f"{{{path}}}", 0
    actions = []
    while start >= 0:
        action = _Action(text, start + 1)
        actions.append(action.read())
        start = text.find("{", action.position)
    return JSONPath(actions)


def _steps_of(text: str) -> Sequence[Step]:
    """The steps of a part of a path."""
    return _Action(f"{text}}}", 0).read()


class _Action:
    """The text between two braces, and the position up to which it was read."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self.position = position
        self._steps: list[Step] = []

    def read(self) -> Sequence[Step]:
        """The steps up to the closing brace."""
        text = self._text
        while not text.startswith("}", self.position):
            if text.startswith("[?(", self.position):
                self._read_filter()
            elif text.startswith("..", self.position):
                self._read_descendants()
            else:
                self._read_other(text[self.position : self.position + 1])
        self.position += 1
        return self._steps

    def _read_other(self, char: str) -> None:
        if char in {" ", "@", "$"}:
            self.position += 1
        elif char == ".":
            self.position += 1
            self._read_name()
        elif char == "[":
            self._read_brackets()
        elif char in {"'", '"'}:
            self._read_quoted(char)
        elif char in {"+", "-"} or char.isdecimal():
            self._read_number()
        elif _begins_word(char):
            self._read_identifier()
        else:
            raise InvalidJSONPath(f"unrecognized character in action: {char!r}")

    def _take(self, pattern: re.Pattern[str]) -> str:
        """The text here that matches a pattern, which matches the empty text as well."""
        match = pattern.match(self._text, self.position)
        assert match is not None
        self.position = match.end()
        return match[0]

    def _read_name(self) -> None:
        name = self._take(_NAME)
        is_all = name == "*"
        self._steps.append(json_path_steps.children if is_all else json_path_steps.member(name.replace("\\", "")))

    def _read_descendants(self) -> None:
        if self._steps and self._steps[-1] is json_path_steps.descendants:
            raise InvalidJSONPath("invalid multiple recursive descent")
        self.position += 2
        self._steps.append(json_path_steps.descendants)
        if _begins_word(self._text[self.position : self.position + 1]):
            self._read_name()

    def _read_identifier(self) -> None:
        word = self._take(_NAME)
        is_boolean = word in {"true", "false"}
        self._steps.append(
            json_path_steps.constant(word == "true") if is_boolean else json_path_steps.unrecognized(word)
        )

    def _read_number(self) -> None:
        self._steps.append(json_path_steps.constant(_number(self._take(_NUMBER))))

    def _read_quoted(self, quote: str) -> None:
        text, end = self._text, self._text.find(quote, self.position + 1)
        while end > 0 and text[end - 1] == "\\":
            end = text.find(quote, end + 1)
        inside = text[self.position + 1 : end]
        if end < 0 or "\n" in inside:
            raise InvalidJSONPath("unterminated quoted string")
        self._steps.append(json_path_steps.text(_unquoted(inside, quote)))
        self.position = end + 1

    def _read_brackets(self) -> None:
        end = self._text.find("]", self.position)
        inside = self._text[self.position + 1 : end]
        if end < 0 or "\n" in inside:
            raise InvalidJSONPath("unterminated array")
        self.position = end + 1
        if "," in inside:
            alternatives = [_steps_of(f"[{part.strip(' ')}]") for part in inside.split(",")]
            self._steps.append(json_path_steps.union(alternatives))
        elif key := _KEY.fullmatch(inside):
            self._steps += _steps_of(f".{key[1]}")  # as in client-go, dots in a quoted key separate steps
        else:
            self._steps.append(_elements(":" if inside == "*" else inside))

    def _read_filter(self) -> None:
        start = self.position + len("[?(")
        end = _end_of_filter(self._text, start)
        if not self._text.startswith(")]", end):
            raise InvalidJSONPath("unclosed array expect ]")
        self.position = end + len(")]")
        condition = self._text[start:end]
        if match := _COMPARISON.fullmatch(condition):
            left, operator, right = match.groups()
            self._steps.append(json_path_steps.compared(_steps_of(left), operator, _steps_of(right)))
        else:
            self._steps.append(json_path_steps.existing(_steps_of(condition)))


def _begins_word(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdecimal()


def _end_of_filter(text: str, start: int) -> int:
    """The position of the parenthesis that closes a filter: behind the first pair of quotes, if there is a quote."""
    quote, is_closed = "", True
    for position in range(start, len(text)):
        char = text[position]
        if char == "\n":
            break
        if char in "'\"":
            is_end = bool(quote) and char == quote and text[position - 1] != "\\"
            is_closed = is_end or (is_closed and bool(quote))
            quote = quote or char
        elif char == ")" and is_closed:
            return position
    raise InvalidJSONPath("unterminated filter")


def _elements(text: str) -> Step:
    match = _RANGE.fullmatch(text)
    if match is None:
        raise InvalidJSONPath(f"invalid array index {text}")
    start, stop, stride = match.groups()
    first = _bound(start)
    if stop is None:
        return json_path_steps.elements(ElementRange(first, (first or 0) + 1, _bound(stride), index=True))
    return json_path_steps.elements(ElementRange(first, _bound(stop[1:]), _bound(stride and stride[1:])))


def _bound(text: str | None) -> int | None:
    if not text:
        return None
    if text == "-" or not -_BEYOND_INT64 <= int(text) < _BEYOND_INT64:
        raise InvalidJSONPath(f"array index {text} is not a number")
    return int(text)


def _number(digits: str) -> float:
    """A whole number of 64 bits, or else a float."""
    try:
        number = float(digits)
    except ValueError:
        raise InvalidJSONPath(f"cannot parse number {digits}") from None
    if math.isinf(number):
        raise InvalidJSONPath(f"cannot parse number {digits}")
    is_whole = "." not in digits and -_BEYOND_INT64 <= int(digits) < _BEYOND_INT64
    return int(digits) if is_whole else number


def _unquoted(text: str, quote: str) -> str:
    """The text in quotes, without its escapes."""
    if "\\" not in text:
        return text

    def unescaped(match: re.Match[str]) -> str:
        escape, bare = match.groups()
        if bare is not None and bare != quote:
            return str(bare)
        if escape in _ESCAPED or escape == quote:
            return _ESCAPED.get(escape, quote)
        if not escape or len(escape) == 1:
            raise InvalidJSONPath("invalid syntax")
        return _character(int(escape, 8) if escape.isdecimal() else int(escape[1:], 16))

    return _ESCAPE.sub(unescaped, text)


def _character(number: int) -> str:
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise InvalidJSONPath("invalid syntax")
    return chr(number)
