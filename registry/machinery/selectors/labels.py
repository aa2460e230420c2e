"""Labels: label selectors: parses `env in (prod,qa),tier!=db,!legacy` into requirements.

Pure. Must hold: syntax and messages are kube-apiserver's, including its corner cases: `a in ()` selects the empty
value, `in in (in)` is valid. `a!=b` also selects objects without `a`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.names import check_label_value, check_qualified_name
from aio_apiserver.registry.machinery.selectors import budgets
from aio_apiserver.storage.selection import Operator, Requirement

_SYMBOLS = ("==", "!=", "(", ")", ",", "!", "=", ">", "<")
_SPECIAL = frozenset("()=,!<>")
_BLANK = frozenset(" \t\r\n")
_NUL = "\0"
_ENDS = _SPECIAL | _BLANK | {_NUL}
_KEYWORDS = frozenset({"in", "notin"})
_BINARY = {
    "in": Operator.IN,
    "notin": Operator.NOT_IN,
    "=": Operator.IN,
    "==": Operator.IN,
    "!=": Operator.NOT_IN,
    ">": Operator.GREATER,
    "<": Operator.LESS,
}
_MOST_DIGITS = 19
"""Longer texts are no 64-bit integers, and are not converted."""
_EXPECTED_OPERATORS = "in, notin, =, ==, !=, gt, lt"


class _Token(NamedTuple):
    """A symbol or a word. A word may be an operator. The end of the text is an empty symbol."""

    text: str
    is_word: bool

    @property
    def is_end(self) -> bool:
        return not self.text


def parse(text: str) -> tuple[Requirement, ...]:
    """The requirements of a selector, sorted by label. Raises BadRequest."""
    if not text:
        return ()
    budgets.check_length(text)
    return tuple(sorted(_counted(_Parser(list(_scan(text))).parse()), key=lambda requirement: requirement.name))


def _counted(requirements: Iterable[Requirement]) -> Iterator[Requirement]:
    for count, requirement in enumerate(requirements, 1):
        budgets.check_count(count)
        yield requirement


def _scan(text: str) -> Iterator[_Token]:
    """The tokens of a text. As in Go, a NUL behind a token is skipped, and any other NUL ends the selector."""
    position = 0
    while position < len(text) and text[position] != _NUL:
        if text[position] in _BLANK:
            position += 1
            continue
        token = _token_at(text, position)
        position += len(token.text)
        if text.startswith(_NUL, position):
            position += 1
        yield token
    yield _Token("", False)


def _token_at(text: str, position: int) -> _Token:
    for symbol in _SYMBOLS:
        if text.startswith(symbol, position):
            return _Token(symbol, False)
    end = position
    while end < len(text) and text[end] not in _ENDS:
        end += 1
    return _Token(text[position:end], True)


class _Parser:
    """A recursive descent parser. The last token marks the end."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._position = 0

    def parse(self) -> Iterator[Requirement]:
        while not self._next.is_end:
            if not (self._next.is_word or self._next.text == "!"):
                raise BadRequest(f"found '{self._next.text}', expected: !, identifier, or 'end of string'")
            yield self._requirement()
            separator = self._take()
            if separator.is_end:
                return
            if separator.text != "," or separator.is_word:
                raise BadRequest(f"found '{separator.text}', expected: ',' or 'end of string'")
            if not (self._next.is_word or self._next.text == "!"):
                raise BadRequest(f"found '{self._next.text}', expected: identifier after ','")

    @property
    def _next(self) -> _Token:
        return self._tokens[self._position]

    def _take(self) -> _Token:
        token = self._tokens[self._position]
        self._position = min(self._position + 1, len(self._tokens) - 1)
        return token

    def _requirement(self) -> Requirement:
        is_negated = self._next.text == "!"
        if is_negated:
            self._take()
        key = self._take()
        if not key.is_word:
            raise _refused(f"found '{key.text}', expected: identifier")
        _check_key(key.text)
        if is_negated:
            return Requirement(key.text, Operator.DOES_NOT_EXIST)
        if self._next.is_end or self._next.text == ",":
            return Requirement(key.text, Operator.EXISTS)
        return self._binary(key.text)

    def _binary(self, key: str) -> Requirement:
        token = self._take()
        operator = _BINARY.get(token.text)
        if operator is None or (token.is_word and token.text not in _KEYWORDS):
            raise _refused(f"found '{token.text}', expected: {_EXPECTED_OPERATORS}")
        values = self._values() if token.is_word else {self._value()}
        _check_values(key, operator, values)
        return Requirement(key, operator, frozenset(values))

    def _value(self) -> str:
        if self._next.is_end or self._next.text == ",":
            return ""
        token = self._take()
        if not token.is_word:
            raise _refused(f"found '{token.text}', expected: identifier")
        return token.text

    def _values(self) -> set[str]:
        opening = self._take()
        if opening.text != "(":
            raise _refused(f"found '{opening.text}' expected: '('")
        if self._next.text == ")":
            self._take()
            return {""}
        if not (self._next.is_word or self._next.text == ","):
            raise _refused(f"found '{self._next.text}', expected: ',', ')' or identifier")
        return self._listed_values()

    def _listed_values(self) -> set[str]:
        """The values between the parentheses; a missing word between commas is the empty value."""
        values: set[str] = set()
        while True:
            token = self._take()
            if token.is_word:
                values.add(token.text)
                if self._next.text not in {",", ")"}:
                    raise _refused(f"found '{self._next.text}', expected: ',' or ')'")
            elif token.text == ",":
                if not values or self._next.text in {",", ")"}:
                    values.add("")
            else:
                raise _refused(f"found '{token.text}', expected: ',', or identifier")
            if self._next.text == ")":
                self._take()
                return values


def _refused(why: str) -> BadRequest:
    return BadRequest(f"unable to parse requirement: {why}")


def _check_key(key: str) -> None:
    if messages := check_qualified_name(key):
        raise _refused(str(field.invalid("<nil>", key, "; ".join(messages))))


def _check_values(key: str, operator: Operator, values: set[str]) -> None:
    errors = []
    for index, value in enumerate(sorted(values)):
        if operator in {Operator.GREATER, Operator.LESS} and not _is_integer(value):
            detail = "for 'Gt', 'Lt' operators, the value must be an integer"
            errors.append(field.invalid(f"values[{index}]", value, detail))
        if messages := check_label_value(value):
            errors.append(field.invalid(f"values[{index}][{key}]", value, "; ".join(messages)))
    if errors:
        text = ", ".join(map(str, errors))
        raise _refused(f"[{text}]" if len(errors) > 1 else text)


def _is_integer(text: str) -> bool:
    digits = text[1:] if text[:1] in {"+", "-"} else text
    significant = digits.lstrip("0") or "0"
    if not (digits.isascii() and digits.isdigit()) or len(significant) > _MOST_DIGITS:
        return False
    return int(significant) < 2**63 + text.startswith("-")
