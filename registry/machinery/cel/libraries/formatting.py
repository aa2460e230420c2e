"""Formatting: `'%s: %d'.format([...])`, with English separators.

Pure. Must hold: what stands inside of lists and maps is written as an expression would have it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.golang.text import float_text
from aio_apiserver.registry.machinery.cel import times
from aio_apiserver.registry.machinery.cel.values import Duration, EvaluationError, Timestamp, TypeName, kind_of

_PRECISION = 6
_SUPERSCRIPT = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ ")
_SPECIAL = ("NaN", "Infinity", "-Infinity")


def formatted(template: str, arguments: Sequence[Any]) -> str:
    """The template with its clauses filled in. Raises EvaluationError."""
    parts: list[str] = []
    used = at = 0
    while at < len(template):
        if template[at] != "%":
            parts.append(template[at])
            at += 1
        elif template[at + 1 : at + 2] == "%":
            parts.append("%")
            at += 2
        else:
            precision, verb, at = _clause(template, at + 1)
            if used >= len(arguments):
                raise EvaluationError(f"index {used} out of range")
            parts.append(_written(arguments[used], verb, precision))
            used += 1
    return "".join(parts)


def _clause(template: str, at: int) -> tuple[int, str, int]:
    """The precision, the verb and the place behind them."""
    precision = _PRECISION
    if template[at : at + 1] == ".":
        end = at + 1
        while end < len(template) and template[end].isdigit():
            end += 1
        precision, at = int(template[at + 1 : end] or 0), end
    if at >= len(template):
        raise EvaluationError("unexpected end of string")
    return precision, template[at], at + 1


def _written(value: Any, verb: str, precision: int) -> str:
    write = _VERBS.get(verb)
    if write is None:
        raise EvaluationError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
    return write(value, precision)


def _refused(what: str, kinds: str, value: Any) -> EvaluationError:
    if what in ("binary", "hex"):
        demand = f"only {kinds} can be formatted as {what}"
    else:
        demand = f"{what} clause can only be used on {kinds}"
    return EvaluationError(f"error during formatting: {demand}, was given {kind_of(value)}")


# %s, and what stands inside of lists and maps


def text(value: Any, _precision: int = 0) -> str:
    """A value as %s has it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return float_text(value)
        case int():
            return str(int(value))
        case str():
            return value
        case bytes():
            return value.decode(errors="replace")
        case Timestamp():
            return times.timestamp_text(value)
        case Duration():
            return times.duration_text(value)
        case TypeName():
            return value.name
        case list():
            return f"[{', '.join(map(_nested, value))}]"
        case dict():
            members = sorted((_key(key), _nested(one)) for key, one in value.items())
            return f"{{{', '.join(f'{key}:{one}' for key, one in members)}}}"
    kinds = "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
    raise _refused("string", kinds, value)


def _nested(value: Any) -> str:
    match value:
        case float():
            return f"{value:.{_PRECISION}f}" if value - value == 0 else quote(float_text(value))
        case str():
            return quote(value)
        case bytes():
            return "b" + quote(text(value))
        case Timestamp():
            return f'timestamp("{times.timestamp_text(value)}")'
        case Duration():
            return f'duration("{times.duration_text(value)}")'
        case None | bool() | int() | TypeName() | list() | dict():
            return text(value)
    raise EvaluationError(f"no formatting function for {kind_of(value)}")


def _key(key: Any) -> str:
    if not isinstance(key, (str, bool, int)):
        raise EvaluationError(f"no formatting function for map key of type {kind_of(key)}")
    return _nested(key)


# Numbers


def _double(value: Any, what: str) -> float:
    if isinstance(value, float):
        return value
    if value in _SPECIAL:
        return float(value)
    raise _refused(what, "doubles", value)


def _fixed(value: Any, precision: int) -> str:
    number = _double(value, "fixed-point")
    if number != number:
        return "NaN"
    if number - number != 0:
        return "∞" if number > 0 else "-∞"
    return f"{number:,.{precision}f}"


def _scientific(value: Any, _precision: int) -> str:
    number = _double(value, "scientific")
    if number - number != 0:
        return _fixed(value, 0)
    mantissa, _, exponent = f"{number:.{_PRECISION}e}".partition("e")
    return f"{mantissa}\u00d710{exponent.translate(_SUPERSCRIPT).strip()}"


def _decimal(value: Any, _precision: int) -> str:
    return str(_integer(value, "decimal", "integers"))


def _binary(value: Any, _precision: int) -> str:
    return f"{int(value):b}" if isinstance(value, bool) else f"{_integer(value, 'binary', 'integers and bools'):b}"


def _octal(value: Any, _precision: int) -> str:
    return f"{_integer(value, 'octal', 'integers'):o}"


def _hexadecimal(value: Any, _precision: int) -> str:
    if isinstance(value, (str, bytes)):
        return (value.encode() if isinstance(value, str) else value).hex()
    return f"{_integer(value, 'hex', 'integers, byte buffers, and strings'):x}"


def _integer(value: Any, what: str, kinds: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _refused(what, kinds, value)
    return int(value)


_VERBS: Mapping[str, Callable[[Any, int], str]] = {
    "s": text,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hexadecimal,
    "X": lambda value, precision: _hexadecimal(value, precision).upper(),
    "o": _octal,
}
