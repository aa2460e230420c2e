"""Rules: checks the CEL rules of a definition, and evaluates them on custom resources."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from aio_apiserver.base.budget import SLICE, Budget
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.apiextensions.cel_rules import rule_evaluation
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_checks import RuleChecks
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_evaluation import (
    PATIENCE,
    CompiledRules,
    RuleOutcome,
)
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_metrics import RuleRecorder
from aio_apiserver.registry.machinery.cel.schema_types import declared
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural.rules import has_rules


def check(schema: Schema, path: str, *, before: Schema | None, unsound: Sequence[FieldError] = ()) -> list[FieldError]:
    """The errors of the rules in a structural schema. `unsound` are the other errors of the schema.

    `before` is the old schema of the same version. When it is equal, the costs of single rules have been accepted
    before.
    """
    if not has_rules(schema):
        return []
    return RuleChecks(before != schema, [error.path for error in unsound]).check(schema, path)


def evaluate(
    schema: Schema, new: Mapping[str, Any], old: Mapping[str, Any] | None, *, path: str = ""
) -> list[FieldError]:
    """The errors of the rules on an object, or (with `path`) on a default value."""
    return outcome(schema, new, old, RuleRecorder(), path=path).errors


def outcome(
    schema: Schema,
    new: Mapping[str, Any],
    old: Mapping[str, Any] | None,
    recorder: RuleRecorder,
    *,
    path: str = "",
    may_take_long: bool = True,
) -> RuleOutcome:
    """The errors and warnings of the rules. Raises TakesLong, unless `may_take_long`; then nothing is recorded but the
    compilation.
    """
    if not has_rules(schema):
        return RuleOutcome()
    is_resource = not path or bool(schema.get("x-kubernetes-embedded-resource"))
    found = RuleOutcome() if may_take_long else RuleOutcome(patience=PATIENCE, work=Budget(SLICE))
    compiled, began = _rules(_Same(schema, recorder), is_resource), recorder.clock.monotonic()
    rule_evaluation.evaluate(compiled, new, old, schema, path=path, outcome=found)
    recorder.evaluated(began)
    return found


class _Same:
    """A schema, compared by identity. The compiled rules are cached for as long as the schema is in use."""

    __slots__ = ("recorder", "schema")

    def __init__(self, schema: Schema, recorder: RuleRecorder) -> None:
        self.schema = schema
        self.recorder = recorder

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.schema is self.schema

    def __hash__(self) -> int:
        return id(self.schema)


@lru_cache(maxsize=512)
def _rules(of: _Same, is_resource: bool) -> CompiledRules:
    began = of.recorder.clock.monotonic()
    type_of_self = declared(of.schema, is_resource=is_resource)
    compiled = CompiledRules(of.schema, of.schema, type_of_self, is_resource=is_resource)
    of.recorder.compiled(began)
    return compiled
