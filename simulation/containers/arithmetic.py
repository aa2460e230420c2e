"""Arithmetic: the value of `$((expression))` in a shell script, with integers and + - * / %.

Pure. A script decides on the text, so the expression is read here and not by Python.
"""

import re
from collections.abc import Mapping

_TOKEN = re.compile(r"\s*(\d+|\$?[A-Za-z_]\w*|[-+*/%()])")
_LARGEST = 2**63


def value(expression: str, env: Mapping[str, str]) -> int:
    """The value of an expression; 0 where it cannot be read."""
    tokens = _TOKEN.findall(expression)
    try:
        result, rest = _sum(tokens, env)
    except (IndexError, ZeroDivisionError):
        return 0
    return result if not rest and abs(result) < _LARGEST else 0


def _sum(tokens: list[str], env: Mapping[str, str]) -> tuple[int, list[str]]:
    total, tokens = _product(tokens, env)
    while tokens and tokens[0] in "+-":
        sign = 1 if tokens[0] == "+" else -1
        more, tokens = _product(tokens[1:], env)
        total += sign * more
    return total, tokens


def _product(tokens: list[str], env: Mapping[str, str]) -> tuple[int, list[str]]:
    total, tokens = _factor(tokens, env)
    while tokens and tokens[0] in "*/%":
        operator = tokens[0]
        more, tokens = _factor(tokens[1:], env)
        total = total * more if operator == "*" else _divided(total, more, operator)
    return total, tokens


def _divided(number: int, by: int, operator: str) -> int:
    """As in C: the quotient is cut towards zero, and the remainder has the sign of the number."""
    quotient = abs(number) // abs(by) * (1 if (number < 0) == (by < 0) else -1)
    return quotient if operator == "/" else number - quotient * by


def _factor(tokens: list[str], env: Mapping[str, str]) -> tuple[int, list[str]]:
    token, rest = tokens[0], tokens[1:]
    if token == "-":  # noqa: S105 - a token of the expression
        number, rest = _factor(rest, env)
        return -number, rest
    if token == "(":  # noqa: S105 - a token of the expression
        number, rest = _sum(rest, env)
        return number, rest[1:]
    if token.isdigit():
        return int(token[:18]), rest
    text = env.get(token.removeprefix("$"), "")
    return int(text[:18]) if text.lstrip("-").isdigit() else 0, rest
