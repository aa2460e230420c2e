"""Strings: cutting, searching, joining and formatting."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from registry.cel import times
from registry.cel.declarations import functions
from registry.cel.environment import Library
from registry.cel.values import Duration, EvaluationError, Timestamp, TypeName, kind_of
from registry.gotext import float_text

_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_ASCII_UPPER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_ASCII_LOWER = {lower: upper for upper, lower in _ASCII_UPPER.items()}
_QUOTED: Mapping[str, str] = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


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


def _last_index_of(text: str, part: str, end: int | None = None) -> int:
    if end is None:
        return len(text) if not part else text.rfind(part)
    if not 0 <= end < max(len(text), 1):
        raise _out_of_range(end)
    return end if not part else text.rfind(part, 0, end + len(part))


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, count)


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


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


def _join(parts: Sequence[Any], separator: str = "") -> str:
    for part in parts:
        if not isinstance(part, str):
            raise EvaluationError("no such overload")
    return separator.join(parts)


def _quote(text: str) -> str:
    return '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'


# format


def _format(template: str, arguments: Sequence[Any]) -> str:
    parts: list[str] = []
    left = iter(arguments)
    used = at = 0
    while at < len(template):
        if template[at] != "%":
            parts.append(template[at])
            at += 1
            continue
        if template[at + 1 : at + 2] == "%":
            parts.append("%")
            at += 2
            continue
        precision, verb, at = _clause(template, at + 1)
        if used >= len(arguments):
            raise EvaluationError(f"index {used} out of range")
        used += 1
        parts.append(_formatted(next(left), verb, precision))
    return "".join(parts)


def _clause(template: str, at: int) -> tuple[int, str, int]:
    """The precision, the verb and the place behind them; six digits are the default."""
    precision = 6
    if template[at : at + 1] == ".":
        end = at + 1
        while end < len(template) and template[end].isdigit():
            end += 1
        precision, at = int(template[at + 1 : end] or 0), end
    if at >= len(template):
        raise EvaluationError("unexpected end of string")
    return precision, template[at], at + 1


def _formatted(value: Any, verb: str, precision: int) -> str:
    maker = _VERBS.get(verb)
    if maker is None:
        raise EvaluationError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
    return maker(value, precision)


def _number(value: Any, verb: str, allowed: Sequence[str]) -> Any:
    if kind_of(value) not in allowed:
        raise EvaluationError(
            f"error during formatting: {verb} clause can only be used on {_ALLOWED[verb]}, was given {kind_of(value)}"
        )
    return value


_ALLOWED = {
    "decimal": "integers",
    "fixed-point": "doubles",
    "scientific": "doubles",
    "binary": "integers and bools",
    "octal": "integers",
}
_INTEGERS = ("int", "uint")


def _text(value: Any, _precision: int = 0) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return float_text(value) if value == value and abs(value) != float("inf") else _special(value)
        case int():
            return str(int(value))
        case str():
            return value
        case bytes():
            return value.decode(errors="replace")
        case None:
            return "null"
        case Timestamp():
            return times.timestamp_text(value)
        case Duration():
            return times.duration_text(value)
        case TypeName():
            return value.name
        case list():
            return f"[{', '.join(map(_text, value))}]"
        case dict():
            members = sorted((_text(key), _text(one)) for key, one in value.items())
            return f"{{{', '.join(f'{key}: {one}' for key, one in members)}}}"
    raise EvaluationError(f"error during formatting: no formatting function for {kind_of(value)}")


def _special(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _fixed(value: Any, precision: int) -> str:
    return f"{float(_number(value, 'fixed-point', ('double', *_INTEGERS))):.{precision}f}"


def _scientific(value: Any, precision: int) -> str:
    return f"{float(_number(value, 'scientific', ('double', *_INTEGERS))):.{precision}e}"


def _hex(value: Any, _precision: int) -> str:
    if isinstance(value, str):
        return value.encode().hex()
    if isinstance(value, bytes):
        return value.hex()
    return f"{int(_number(value, 'decimal', _INTEGERS)):x}"


_VERBS: Mapping[str, Callable[[Any, int], str]] = {
    "s": _text,
    "d": lambda value, _precision: str(int(_number(value, "decimal", _INTEGERS))),
    "f": _fixed,
    "e": _scientific,
    "b": lambda value, _precision: f"{int(_number(value, 'binary', ('bool', *_INTEGERS))):b}",
    "x": _hex,
    "X": lambda value, precision: _hex(value, precision).upper(),
    "o": lambda value, _precision: f"{int(_number(value, 'octal', _INTEGERS)):o}",
}

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
        "string_last_index_of_string": _last_index_of,
        "string_last_index_of_string_int": _last_index_of,
        "string_lower_ascii": lambda text: text.translate(_ASCII_UPPER),
        "string_upper_ascii": lambda text: text.translate(_ASCII_LOWER),
        "string_replace_string_string": _replace,
        "string_replace_string_string_int": _replace,
        "string_split_string": _split,
        "string_split_string_int": _split,
        "string_substring_int": _substring,
        "string_substring_int_int": _substring,
        "string_trim": lambda text: text.strip(_SPACE),
        "list_join": _join,
        "list_join_string": _join,
        "string_format": _format,
        "strings_quote": _quote,
    },
)
