r"""Fields: field selectors: parses `spec.nodeName=n1,status.phase!=Failed` into requirements.

Pure. Must hold: an unknown field is a BadRequest, not an empty list. A term without field and value is ignored. In a
value, `\\`, `\,` and `\=` stand for the characters; any other backslash is refused.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.selectors import budgets
from aio_apiserver.storage.selection import Operator, Requirement

_OPERATORS = {"!=": Operator.NOT_IN, "==": Operator.IN, "=": Operator.IN}
# In the order in which they are looked for at each position.
_OPERATOR = re.compile("!=|==|=")


class Selectable(Protocol):
    """A kind, as far as field selectors have to know it."""

    @property
    def unknown_field_message(self) -> str:
        """The error for a field that this kind, which has fields of its own, does not offer."""
        ...

    @property
    def has_own_fields(self) -> bool:
        """Whether objects can be selected by more than their name and namespace."""
        ...

    @property
    def is_custom(self) -> bool:
        """Whether a CustomResourceDefinition makes it."""
        ...

    def field_name(self, label: str) -> str | None:
        """The field that a word of a field selector means; None when the kind does not offer it."""
        ...


def parse(text: str, kind: Selectable) -> tuple[Requirement, ...]:
    """The requirements of a selector. Raises BadRequest."""
    return tuple(_requirement(term, kind) for term in terms(text))


def terms(text: str) -> list[tuple[str, Operator, str]]:
    """Fields, operators and values of a selector, for any kind. Raises BadRequest for invalid syntax."""
    if not text:
        return []
    budgets.check_length(text)
    present = sorted(filter(None, _terms(text)))
    budgets.check_count(len(present))
    found = [_split(term, text) for term in present]
    return [(label, operator, value) for label, operator, value in found if label or value]


def _terms(text: str) -> Iterable[str]:
    """The terms between commas that are not escaped."""
    return _terms_with_escapes(text) if "\\" in text else text.split(",")


def _terms_with_escapes(text: str) -> Iterator[str]:
    start = position = 0
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == ",":
            yield text[start:position]
            start = position + 1
        position += 1
    yield text[start:]


def _requirement(term: tuple[str, Operator, str], kind: Selectable) -> Requirement:
    label, operator, value = term
    name = kind.field_name(label)
    if name is None:
        raise BadRequest(_unknown(label, kind))
    return Requirement(name, operator, frozenset({value}))


def _split(term: str, text: str) -> tuple[str, Operator, str]:
    found = _OPERATOR.search(term)
    if found is None:
        raise BadRequest(f"invalid selector: '{text}'; can't understand '{term}'")
    return term[: found.start()], _OPERATORS[found[0]], _unescape(term[found.end() :])


def _unescape(value: str) -> str:
    if "\\" not in value and "=" not in value:
        return value
    plain, position = [], 0
    while position < len(value):
        char = value[position]
        if char == "\\":
            position += 1
            char = value[position : position + 1]
            if char not in {"\\", ",", "="}:
                raise BadRequest(f"invalid field selector: invalid escape sequence: \\{char}")
        elif char == "=":
            raise BadRequest(f"invalid field selector: unescaped character in value: {ord(char)}")
        plain.append(char)
        position += 1
    return "".join(plain)


def _unknown(name: str, kind: Selectable) -> str:
    if kind.has_own_fields or kind.is_custom:
        return kind.unknown_field_message.format(name=name, quoted=quote(name))
    return f'{quote(name)} is not a known field selector: only "metadata.name", "metadata.namespace"'
