"""Arithmetic: the value of `$((expression))` in a shell script, with integers and + - * / %.

Pure. A script decides on the text, so the expression is read here and not by Python. Must hold: every number has 64
bits, as in a shell.
"""

import re
from collections.abc import Mapping

_TOKEN = re.compile(r"[0-9]+|\$?[A-Za-z_]\w*|[-+*/%()]")
_INTEGER = re.compile(r"-?[0-9]+")
_MOST_DIGITS = 18
_LARGEST = 2**63
_DEEPEST = 40


def value(expression: str, env: Mapping[str, str]) -> int:
    """The value of an expression; 0 where it cannot be read."""
    reader = _Reader(_TOKEN.findall(expression), env)
    try:
        result = reader.sum()
    except (IndexError, ZeroDivisionError):
        return 0
    return result if reader.is_at_end else 0


class _Reader:
    """The tokens of an expression, from the first to the last."""

    def __init__(self, tokens: list[str], env: Mapping[str, str]) -> None:
        self._tokens = tokens
        self._env = env
        self._at = 0
        self._depth = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._tokens)

    def _next(self) -> str:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _is_at(self, operators: str) -> bool:
        return not self.is_at_end and self._tokens[self._at] in operators

    def sum(self) -> int:
        """The value up to the end or to a bracket. Raises IndexError, ZeroDivisionError."""
        total = self._product()
        while self._is_at("+-"):
            sign = 1 if self._next() == "+" else -1
            total = _wrapped(total + sign * self._product())
        return total

    def _product(self) -> int:
        total = self._factor()
        while self._is_at("*/%"):
            operator = self._next()
            factor = self._factor()
            total = _wrapped(total * factor) if operator == "*" else _divided(total, factor, operator)
        return total

    def _factor(self) -> int:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise IndexError
        result = self._value(self._next())
        self._depth -= 1
        return result

    def _value(self, token: str) -> int:
        if token == "-":  # noqa: S105 - a token of the expression
            return -self._factor()
        if token == "(":  # noqa: S105 - a token of the expression
            inside = self.sum()
            if self._next() != ")":
                raise IndexError
            return inside
        if token[0] in "0123456789":
            return int(token[:_MOST_DIGITS])
        text = self._env.get(token.removeprefix("$"), "")
        return int(text[:_MOST_DIGITS]) if _INTEGER.fullmatch(text) else 0


def _divided(number: int, by: int, operator: str) -> int:
    """As in C: the quotient is cut towards zero, and the remainder has the sign of the number."""
    quotient = abs(number) // abs(by) * (1 if (number < 0) == (by < 0) else -1)
    return quotient if operator == "/" else number - quotient * by


def _wrapped(number: int) -> int:
    """A number in 64 bits."""
    return (number + _LARGEST) % (2 * _LARGEST) - _LARGEST
