"""Formatting: the CEL function `'%s: %d'.format([...])`, with English separators.

Pure. Must hold: members of lists and maps are written as CEL literals. All texts are paid for before they are written.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.golang.text import float_text
from aio_apiserver.registry.machinery.cel import format_clauses, times
from aio_apiserver.registry.machinery.cel.values import Duration, EvaluationError, Timestamp, TypeName, kind_of

_SUPERSCRIPT = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ ")
_SPECIAL = ("NaN", "Infinity", "-Infinity")


def formatted(budget: Budget, template: str, arguments: Sequence[Any]) -> str:
    """The template with its clauses replaced. Raises EvaluationError, BudgetExceeded."""
    budget.make(len(template))
    budget.spend(len(template) // _CHARACTERS_OF_A_STEP)

    def write(index: int, verb: str, precision: int) -> str:
        budget.make(precision)
        _pay(arguments[index], budget)
        return _VERBS[verb](arguments[index], precision)

    parts, _ = format_clauses.fill(template, len(arguments), write)
    return "".join(parts)


_CHARACTERS_OF_A_STEP = 8
_BYTES_OF_A_SCALAR = 64
_MOST_OF_A_CHARACTER = 4
"""Characters that stand for one in a literal."""


def _pay(value: Any, budget: Budget) -> None:
    """Pay for the text of a value, which may contain the same list many times."""
    budget.spend(1)
    if isinstance(value, str | bytes):
        budget.make(_MOST_OF_A_CHARACTER * len(value))
        return
    budget.make(_BYTES_OF_A_SCALAR)
    if isinstance(value, list | dict):
        for member in value:
            _pay(member, budget)
    if isinstance(value, dict):
        for member in value.values():
            _pay(member, budget)


def _refused(clause: str, value: Any) -> EvaluationError:
    return EvaluationError(format_clauses.refusal(clause, kind_of(value)))


# %s and the members of lists and maps


def text(value: Any, _precision: int = 0) -> str:
    """A value as %s writes it."""
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
    raise _refused("string", value)


def _nested(value: Any) -> str:
    match value:
        case float():
            return f"{value:.{format_clauses.PRECISION}f}" if value - value == 0 else quote(float_text(value))
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
    raise _refused(what, value)


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
    mantissa, _, exponent = f"{number:.{format_clauses.PRECISION}e}".partition("e")
    return f"{mantissa}\u00d710{exponent.translate(_SUPERSCRIPT).strip()}"


def _decimal(value: Any, _precision: int) -> str:
    return str(_integer(value, "decimal"))


def _binary(value: Any, _precision: int) -> str:
    return f"{int(value):b}" if isinstance(value, bool) else f"{_integer(value, 'binary'):b}"


def _octal(value: Any, _precision: int) -> str:
    return f"{_integer(value, 'octal'):o}"


def _hexadecimal(value: Any, _precision: int) -> str:
    if isinstance(value, (str, bytes)):
        return (value.encode() if isinstance(value, str) else value).hex()
    return f"{_integer(value, 'hex'):x}"


def _integer(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _refused(what, value)
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
