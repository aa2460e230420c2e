"""Format clauses: the grammar of the templates of `format`, such as `%s` and `%.3f`, and messages about their values.

Pure. Must hold: mistakes of a template are found in the order of its clauses.
"""

from collections.abc import Callable, Sequence

from aio_apiserver.registry.machinery.cel.values import MAX_INT, EvaluationError, whole_number

PRECISION = 6
_VERBS = frozenset("sdfebxXo")
_DIGITS = frozenset("0123456789")

Write = Callable[[int, str, int], str]
"""The text for the argument at an index, by the verb and the precision of its clause."""


def fill(template: str, count: int, write: Write, *, is_check: bool = False) -> tuple[Sequence[str], int]:
    """The parts of a template for so many arguments, and how many of them it uses. Raises EvaluationError.

    is_check: whether the end of the template is an error before the end of the arguments, as it is at compile time.
    """
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
            if is_check and at + 1 >= len(template):
                raise EvaluationError(_CUT)
            if used >= count:
                raise EvaluationError(f"index {used} out of range")
            precision, verb, at = _clause(template, at + 1)
            parts.append(write(used, verb, precision))
            used += 1
    return parts, used


_CUT = "unexpected end of string"
_MALFORMED = "could not parse formatting clause: "
_WRONG_PRECISION = f"{_MALFORMED}error while parsing precision: "


def _clause(template: str, at: int) -> tuple[int, str, int]:
    """The precision, the verb, and the index behind the clause."""
    precision = PRECISION
    if at >= len(template):
        raise EvaluationError(_CUT)
    if template[at] == ".":
        end = at + 1
        while end < len(template) and template[end] in _DIGITS:
            end += 1
        precision, at = _precision(template, at + 1, end), end
    verb = template[at]
    if verb not in _VERBS:
        raise EvaluationError(f'{_MALFORMED}unrecognized formatting clause "{verb}"')
    return precision, verb, at + 1


def _precision(template: str, start: int, end: int) -> int:
    if end == len(template):
        raise EvaluationError(f"{_WRONG_PRECISION}could not find end of precision specifier")
    if start == end:
        no_number = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
        raise EvaluationError(f"{_WRONG_PRECISION}{no_number}")
    precision = whole_number(template[start:end])
    if precision is None or precision > MAX_INT:
        wrong = f'strconv.Atoi: parsing "{template[start:end]}": value out of range'
        raise EvaluationError(f"{_WRONG_PRECISION}error while converting precision to integer: {wrong}")
    return precision


_INTEGERS = "integers"
_KINDS = {
    "string": "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
    "decimal": _INTEGERS,
    "fixed-point": "doubles",
    "scientific": "doubles",
    "binary": "integers and bools",
    "hex": "integers, byte buffers, and strings",
    "octal": _INTEGERS,
}
"""By the name of a clause, the kinds of values that it writes."""


def refusal(clause: str, given: str) -> str:
    """The message about a value of another kind."""
    if clause in ("binary", "hex"):
        demand = f"only {_KINDS[clause]} can be formatted as {clause}"
    else:
        demand = f"{clause} clause can only be used on {_KINDS[clause]}"
    return f"error during formatting: {demand}, was given {given}"
