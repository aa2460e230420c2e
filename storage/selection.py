"""SelectionPredicate: which objects a list or watch wants, by labels and fields.

Pure matching on what StoredObject shows; the query text is parsed elsewhere. Must hold: predicates with the same
requirements are equal and hash alike, so that watchers with one selection share their frames. `a!=b` and
`a notin (b)` also match objects without `a`.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cached_property

from msgspec import Struct

from aio_apiserver.storage.stored_object import StoredObject


class Operator(Enum):
    """How a requirement compares."""

    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    DOES_NOT_EXIST = "!"
    GREATER = "gt"
    LESS = "lt"


class Requirement(Struct, frozen=True):
    """One condition on one label or field. `values`: one or more for IN and NOT_IN, one number for GREATER and LESS."""

    name: str
    operator: Operator
    values: frozenset[str] = frozenset()


_INTEGER = re.compile("[+-]?[0-9]{1,63}")

Matcher = Callable[[Mapping[str, str]], bool]


class SelectionPredicate(Struct, frozen=True, dict=True):
    """All requirements must hold."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    @property
    def is_everything(self) -> bool:
        return not self.labels and not self.fields

    def matches(self, stored: StoredObject) -> bool:
        """Whether the object is selected."""
        return all(match(stored.labels) for match in self._label_matchers) and all(
            match(stored.fields) for match in self._field_matchers
        )

    def select(self, objects: Sequence[StoredObject]) -> Sequence[StoredObject]:
        """Those that are selected, in their order: one pass a requirement, each over what is left of the one before."""
        for match in self._label_matchers:
            objects = [stored for stored in objects if match(stored.labels)]
        for match in self._field_matchers:
            objects = [stored for stored in objects if match(stored.fields)]
        return objects

    def field_value(self, name: str) -> str | None:
        """The one value that a field must have for an object to match, if the predicate says so."""
        for requirement in self.fields:
            if requirement.name == name and requirement.operator is Operator.IN and len(requirement.values) == 1:
                return next(iter(requirement.values))
        return None

    @cached_property
    def _label_matchers(self) -> tuple[Matcher, ...]:
        return tuple(map(compile_requirement, self.labels))

    @cached_property
    def _field_matchers(self) -> tuple[Matcher, ...]:
        return tuple(map(compile_requirement, self.fields))


EVERYTHING = SelectionPredicate()


def compile_requirement(requirement: Requirement) -> Matcher:
    """A closure for one requirement: it runs once per object of a list."""
    return _COMPILERS[requirement.operator](requirement)


def _in(requirement: Requirement) -> Matcher:
    name, values = requirement.name, requirement.values
    if len(values) == 1:
        (value,) = values
        return lambda labels: labels.get(name) == value
    return lambda labels: labels.get(name) in values


def _not_in(requirement: Requirement) -> Matcher:
    name, values = requirement.name, requirement.values
    return lambda labels: labels.get(name) not in values


def _exists(requirement: Requirement) -> Matcher:
    name = requirement.name
    return lambda labels: name in labels


def _does_not_exist(requirement: Requirement) -> Matcher:
    name = requirement.name
    return lambda labels: name not in labels


def _compare(requirement: Requirement, compare: Callable[[int, int], bool]) -> Matcher:
    name = requirement.name
    (bound_text,) = requirement.values
    bound = _integer(bound_text)

    def match(labels: Mapping[str, str]) -> bool:
        value = _integer(labels.get(name, ""))
        return value is not None and bound is not None and compare(value, bound)

    return match


def _integer(text: str) -> int | None:
    """The number that a label holds: 64 bits, and no underscores or spaces, which Python alone would read over."""
    if not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


_COMPILERS: dict[Operator, Callable[[Requirement], Matcher]] = {
    Operator.IN: _in,
    Operator.NOT_IN: _not_in,
    Operator.EXISTS: _exists,
    Operator.DOES_NOT_EXIST: _does_not_exist,
    Operator.GREATER: lambda requirement: _compare(requirement, operator.gt),
    Operator.LESS: lambda requirement: _compare(requirement, operator.lt),
}
