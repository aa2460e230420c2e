"""Strings: the CEL library for strings.

Pure. Must hold: the size of a text or list is paid for before it is made.
"""

from collections.abc import Callable, Sequence
from typing import Any

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.base.golang.quoting import ESCAPES
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.libraries.formatting import formatted
from aio_apiserver.registry.machinery.cel.values import BYTES_OF_A_TEXT, Budgeted, EvaluationError

_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_ASCII_UPPER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_ASCII_LOWER = {lower: upper for upper, lower in _ASCII_UPPER.items()}


_ESCAPES = str.maketrans(ESCAPES)
_MOST_OF_A_CHARACTER = 2
"""Characters that stand for one in quotes."""
_PARTS_OF_A_STEP = 16


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if not 0 <= start < len(text):
        if start == len(text) or not text:
            return -1
        raise _out_of_range(start)
    return text.find(part, start)


def _last_index_of(budget: Budget, text: str, part: str, end: int | None = None) -> int:
    if end is None:
        return len(text) if not part else _last_of(budget, text, part)
    if not 0 <= end < max(len(text), 1):
        raise _out_of_range(end)
    return end if not part else _last_of(budget, text[: end + len(part)], part)


def _last_of(budget: Budget, text: str, part: str) -> int:
    """str.rfind takes a time that grows with the product of the lengths; str.find does not."""
    budget.make(len(text) + len(part))
    backwards = text[::-1].find(part[::-1])
    return -1 if backwards < 0 else len(text) - len(part) - backwards


def _replace(budget: Budget, text: str, old: str, new: str, count: int = -1) -> str:
    times = text.count(old)
    times = times if count < 0 else min(count, times)
    budget.make(len(text) + times * max(len(new) - len(old), 0))
    return text.replace(old, new, count)


def _split(budget: Budget, text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    budget.make(len(text) + BYTES_OF_A_TEXT * (text.count(separator) + 1))
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


def _copied(copy: Callable[..., str]) -> Budgeted:
    """A function whose result is at most as long as the text."""

    def work(budget: Budget, text: str, *arguments: Any) -> str:
        budget.make(len(text))
        return copy(text, *arguments)

    return Budgeted(work)


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is None:
        if not 0 <= start <= len(text):
            raise _out_of_range(start)
        return text[start:]
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def _join(budget: Budget, parts: Sequence[Any], separator: str = "") -> str:
    budget.spend(len(parts) // _PARTS_OF_A_STEP)
    for part in parts:
        if not isinstance(part, str):
            raise EvaluationError("no such overload")
    budget.make(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


def _quote(budget: Budget, text: str) -> str:
    budget.make(_MOST_OF_A_CHARACTER * len(text))
    return f'"{text.translate(_ESCAPES)}"'


LIBRARY = Library(
    functions(
        {
            "charAt": [("string_char_at_int", "string.(int) -> string")],
            "indexOf": [
                ("string_index_of_string", "string.(string) -> int"),
                ("string_index_of_string_int", "string.(string, int) -> int"),
            ],
            "lastIndexOf": [
                ("string_last_index_of_string", "string.(string) -> int"),
                ("string_last_index_of_string_int", "string.(string, int) -> int"),
            ],
            "lowerAscii": [("string_lower_ascii", "string.() -> string")],
            "upperAscii": [("string_upper_ascii", "string.() -> string")],
            "replace": [
                ("string_replace_string_string", "string.(string, string) -> string"),
                ("string_replace_string_string_int", "string.(string, string, int) -> string"),
            ],
            "split": [
                ("string_split_string", "string.(string) -> list(string)"),
                ("string_split_string_int", "string.(string, int) -> list(string)"),
            ],
            "substring": [
                ("string_substring_int", "string.(int) -> string"),
                ("string_substring_int_int", "string.(int, int) -> string"),
            ],
            "trim": [("string_trim", "string.() -> string")],
            "join": [
                ("list_join", "list(string).() -> string"),
                ("list_join_string", "list(string).(string) -> string"),
            ],
            "format": [("string_format", "string.(list(dyn)) -> string")],
            "strings.quote": [("strings_quote", "(string) -> string")],
        }
    ),
    {
        "string_char_at_int": _char_at,
        "string_index_of_string": _index_of,
        "string_index_of_string_int": _index_of,
        "string_last_index_of_string": Budgeted(_last_index_of),
        "string_last_index_of_string_int": Budgeted(_last_index_of),
        "string_lower_ascii": _copied(lambda text: text.translate(_ASCII_UPPER)),
        "string_upper_ascii": _copied(lambda text: text.translate(_ASCII_LOWER)),
        "string_replace_string_string": Budgeted(_replace),
        "string_replace_string_string_int": Budgeted(_replace),
        "string_split_string": Budgeted(_split),
        "string_split_string_int": Budgeted(_split),
        "string_substring_int": _copied(_substring),
        "string_substring_int_int": _copied(_substring),
        "string_trim": _copied(lambda text: text.strip(_SPACE)),
        "list_join": Budgeted(_join),
        "list_join_string": Budgeted(_join),
        "string_format": Budgeted(formatted),
        "strings_quote": Budgeted(_quote),
    },
)
