"""Selection: SelectionPredicate, the label and field selector of a list or watch.

Pure; the registry's selectors parse the query text. Must hold: predicates with equal requirements are equal and have
one hash, so that their watchers share frames. `a!=b` and `a notin (b)` also match objects without `a`.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cached_property

from msgspec import Struct

from aio_apiserver.storage.stored_object import StoredObject


class Operator(Enum):
    """The operators of a requirement."""

    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    DOES_NOT_EXIST = "!"
    GREATER = "gt"
    LESS = "lt"


class Requirement(Struct, frozen=True):
    """A condition on one label or field. `values`: at least one for IN and NOT_IN, one number for GREATER and LESS."""

    name: str
    operator: Operator
    values: frozenset[str] = frozenset()


_INTEGER = re.compile("[+-]?[0-9]{1,63}")

Matcher = Callable[[Mapping[str, str]], bool]


class SelectionPredicate(Struct, frozen=True, dict=True):
    """Requirements that must all hold."""

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
        """The selected objects in order; one pass for each requirement, over the result of the previous pass."""
        for match in self._label_matchers:
            objects = [stored for stored in objects if match(stored.labels)]
        for match in self._field_matchers:
            objects = [stored for stored in objects if match(stored.fields)]
        return objects

    def field_value(self, name: str) -> str | None:
        """The only value that the predicate allows for a field; None if it allows several."""
        for requirement in self.fields:
            if requirement.name == name and requirement.operator is Operator.IN and len(requirement.values) == 1:
                return next(iter(requirement.values))
        return None

    @cached_property
    def label(self) -> Requirement | None:
        """The first label that must have one of some values for an object to match, if the predicate says so."""
        return next((one for one in self.labels if one.operator is Operator.IN), None)

    @cached_property
    def _label_matchers(self) -> tuple[Matcher, ...]:
        return tuple(map(compile_requirement, self.labels))

    @cached_property
    def _field_matchers(self) -> tuple[Matcher, ...]:
        return tuple(map(compile_requirement, self.fields))


EVERYTHING = SelectionPredicate()


def compile_requirement(requirement: Requirement) -> Matcher:
    """A closure for one requirement, because a list calls it for each object."""
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
    """The number of a label: 64 bits, without the underscores and spaces that Python accepts."""
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
