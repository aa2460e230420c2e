"""Rules in CEL: where they come in, when a definition states them and when an object is to follow them."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.apiextensions import rule_evaluation
from aio_apiserver.registry.groups.apiextensions.rule_checks import RuleChecks
from aio_apiserver.registry.groups.apiextensions.rule_evaluation import BUDGET, PATIENCE, RuleOutcome, Rules
from aio_apiserver.registry.machinery.cel.schema_types import declared
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural.rules import has_rules


def check(schema: Schema, path: str, *, before: Schema | None, unsound: Sequence[FieldError] = ()) -> list[FieldError]:
    """What is wrong with the rules of a whole structural schema; `unsound` is what else is wrong within it.

    `before` is the schema of the same version in the definition that is replaced: when it is the same, what its rules
    cost one by one has been accepted.
    """
    if not has_rules(schema):
        return []
    return RuleChecks(before != schema, [error.path for error in unsound]).check(schema, path)


def evaluate(
    schema: Schema, new: Mapping[str, Any], old: Mapping[str, Any] | None, *, path: str = ""
) -> list[FieldError]:
    """What the rules of a schema say of a typed object, or (with a path) of a default, which replaces an old one."""
    return outcome(schema, new, old, path=path).errors


def outcome(
    schema: Schema,
    new: Mapping[str, Any],
    old: Mapping[str, Any] | None,
    *,
    path: str = "",
    may_take_long: bool = True,
) -> RuleOutcome:
    """The same, with what is wrong and was so before. Raises TakesLong, unless it may."""
    if not has_rules(schema):
        return RuleOutcome()
    is_resource = not path or bool(schema.get("x-kubernetes-embedded-resource"))
    found = RuleOutcome(patience=BUDGET if may_take_long else PATIENCE)
    rule_evaluation.evaluate(_rules(_Same(schema), is_resource), new, old, schema, path=path, outcome=found)
    return found


class _Same:
    """A schema that is equal to itself only: what is made of it is kept while it is in use."""

    __slots__ = ("schema",)

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.schema is self.schema

    def __hash__(self) -> int:
        return id(self.schema)


@lru_cache(maxsize=512)
def _rules(of: _Same, is_resource: bool) -> Rules:
    return Rules(of.schema, of.schema, declared(of.schema, is_resource=is_resource), is_resource=is_resource)
