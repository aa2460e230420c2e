"""JSON paths: evaluates JSONPath as kubectl and printer columns do: `.spec.list[?(@.type=="Ready")].status`.

Pure. A path is compiled once to steps, each of which maps values to values. Must hold: a missing value is no error. An
invalid path raises InvalidJSONPath.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from aio_apiserver.registry.base.text_caches import remember_short

Step = Callable[[Iterable[Any]], list[Any]]


class InvalidJSONPath(Exception):
    """The text is no valid path."""


class Uncomparable(Exception):
    """A filter compares values that have no order, or several values."""


_FIELD = re.compile(r"(?:\\.|[^\s.,\[\]{}$@\\])+")
_KEY = re.compile(r"'([^']*)'")
_SLICE = re.compile(r"(-?[0-9]*)(?:(:)(-?[0-9]*)(?:(:)([0-9]*))?)?")
_QUOTED = re.compile(r"'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\"")
_COMPARISON = re.compile(r"(?P<left>.*?)\s*(?P<operator>==|!=|<=|>=|<|>)\s*(?P<right>.*)", re.DOTALL)
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")

_MISSING = object()


@remember_short(4096, longest=1024)
def compiled(path: str) -> Callable[[Any], list[Any]]:
    """A function that finds the values at a path. Raises InvalidJSONPath; the function raises Uncomparable."""
    steps = _steps(path)

    def find(value: Any) -> list[Any]:
        values: list[Any] = [value]
        for step in steps:
            values = step(values)
        return values

    return find


def _steps(path: str) -> list[Step]:
    steps: list[Step] = []
    position = 0
    while position < len(path):
        char = path[position]
        if char == "[":
            end = _closing(path, position)
            steps.append(_bracketed(path[position + 1 : end].strip()))
            position = end + 1
        elif char == ".":
            position = _dotted(path, position, steps)
        elif char == " " or (char in "$@" and not position):
            position += 1
        elif not position and (found := _FIELD.match(path)):
            steps.append(_field(_unescaped(found[0])))
            position = found.end()
        else:
            raise InvalidJSONPath(f"unrecognized character in action: {char!r}")
    return steps


def _dotted(path: str, position: int, steps: list[Step]) -> int:
    """Read the step after a dot, and return the position behind it."""
    if path.startswith("..", position):
        steps.append(_everything_below)
        position += 2
    else:
        position += 1
    if path.startswith("*", position):
        steps.append(_all)
        return position + 1
    found = _FIELD.match(path, position)
    if found is not None:
        steps.append(_field(_unescaped(found[0])))
        return found.end()
    if position < len(path) and path[position] != "[":
        raise InvalidJSONPath(f"unrecognized character in action: {path[position]!r}")
    return position


def _closing(path: str, start: int) -> int:
    """The position of the bracket that closes the one at `start`."""
    depth, quote = 0, ""
    position = start
    while position < len(path):
        char = path[position]
        if char == "\\":
            position += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if not depth:
                return position
        position += 1
    raise InvalidJSONPath("unterminated array")


def _bracketed(text: str) -> Step:
    if text.startswith("?(") and text.endswith(")"):
        return _filter(text[2:-1].strip())
    if text == "*":
        return _all
    parts = _split(text)
    if len(parts) > 1:
        return _union([_bracketed(part.strip()) for part in parts])
    if found := _KEY.fullmatch(text):
        # A quoted key is parsed as a path, so that unescaped dots in it separate steps.
        return _path(f".{found[1]}")
    if found := _SLICE.fullmatch(text):
        return _indexes(found)
    raise InvalidJSONPath(f"invalid array index {text}")


def _path(path: str) -> Step:
    steps = _steps(path)

    def step(values: Iterable[Any]) -> list[Any]:
        found = list(values)
        for one in steps:
            found = one(found)
        return found

    return step


def _split(text: str) -> list[str]:
    """The parts between commas that are not in quotes."""
    parts, quote, start = [], "", 0
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == ",":
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _field(name: str) -> Step:
    def step(values: Iterable[Any]) -> list[Any]:
        return [value[name] for value in values if isinstance(value, dict) and name in value]

    return step


def _union(steps: Sequence[Step]) -> Step:
    def step(values: Iterable[Any]) -> list[Any]:
        given = list(values)
        return list(chain.from_iterable(one(given) for one in steps))

    return step


def _all(values: Iterable[Any]) -> list[Any]:
    return list(chain.from_iterable(map(_children, values)))


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [value[name] for name in sorted(value)]
    return value if isinstance(value, list) else ()


def _everything_below(values: Iterable[Any]) -> list[Any]:
    """The values and all values inside of them, outer ones first."""
    found: list[Any] = []
    for value in values:
        found.append(value)
        found += _everything_below(_children(value))
    return found


def _indexes(found: re.Match[str]) -> Step:
    start, colon, stop, _, stride = found.groups()
    if not colon:
        if not start or start == "-":
            raise InvalidJSONPath("invalid array index")
        index = int(start)
        return lambda values: [
            value[index] for value in values if isinstance(value, list) and -len(value) <= index < len(value)
        ]
    chosen = slice(_number(start), _number(stop), _number(stride) or 1)
    return lambda values: list(chain.from_iterable(value[chosen] for value in values if isinstance(value, list)))


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _filter(text: str) -> Step:
    found = _COMPARISON.fullmatch(_without_quotes(text))
    if found is None:
        exists = compiled(text)
        return _elements(lambda item: bool(exists(item)))
    left, right = _operand(text[: found.end("left")]), _operand(text[found.start("right") :])
    compare = _COMPARISONS[found["operator"]]

    def fits(item: Any) -> bool:
        one, other = left(item), right(item)
        return one is not _MISSING and other is not _MISSING and compare(one, other)

    return _elements(fits)


def _without_quotes(text: str) -> str:
    """The text with quoted parts replaced by `x`, so that every character keeps its position."""
    return _QUOTED.sub(lambda found: "x" * len(found[0]), text)


def _operand(text: str) -> Callable[[Any], Any]:
    text = text.strip()
    if found := _QUOTED.fullmatch(text):
        literal = _unescaped(found[1] if found[1] is not None else found[2])
        return lambda _item: literal
    if _NUMBER.fullmatch(text):
        number = float(text) if re.search("[.eE]", text) else int(text)
        return lambda _item: number
    if text in {"true", "false"}:
        return lambda _item: text == "true"
    find = compiled(text)

    def read(item: Any) -> Any:
        values = find(item)
        if len(values) > 1:
            raise Uncomparable("can only compare one element at a time")
        return values[0] if values else _MISSING

    return read


def _elements(fits: Callable[[Any], bool]) -> Step:
    def step(values: Iterable[Any]) -> list[Any]:
        return [item for value in values if isinstance(value, list) for item in value if fits(item)]

    return step


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def check(one: Any, other: Any) -> bool:
        if type(one) is not type(other) or not isinstance(one, str | int | float) or isinstance(one, bool):
            raise Uncomparable("incompatible types for comparison")
        return compare(one, other)

    return check


def _equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        raise Uncomparable("incompatible types for comparison")
    return bool(one == other)


_COMPARISONS = {
    "==": _equal,
    "!=": lambda one, other: not _equal(one, other),
    "<": _ordered(lambda one, other: one < other),
    "<=": _ordered(lambda one, other: one <= other),
    ">": _ordered(lambda one, other: one > other),
    ">=": _ordered(lambda one, other: one >= other),
}
