"""Rules: checks the CEL rules of a definition, and evaluates them on custom resources.

Must hold: the rules of a schema are compiled once, and outside of the event loop: a kilobyte of them takes some
milliseconds.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from aio_apiserver.base.budget import SLICE, Budget
from aio_apiserver.base.worker_thread import TakesLong
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
    return outcome(schema, new, old, RuleRecorder(), path=path).errors if has_rules(schema) else []


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
    is_resource = not path or bool(schema.get("x-kubernetes-embedded-resource"))
    compiled = _kept.get(schema, is_resource)
    if compiled is None:
        if not may_take_long:
            raise TakesLong
        compiled = _kept.compiled(schema, recorder, is_resource=is_resource)
    found = RuleOutcome() if may_take_long else RuleOutcome(patience=PATIENCE, work=Budget(SLICE))
    began = recorder.clock.monotonic()
    rule_evaluation.evaluate(compiled, new, old, schema, path=path, outcome=found)
    recorder.evaluated(began)
    return found


class _KeptRules:
    """The compiled rules of the schemas that were used last, by the identity of the schema, which lives as long."""

    def __init__(self) -> None:
        self._rules: OrderedDict[tuple[int, bool], tuple[Schema, CompiledRules]] = OrderedDict()
        self._lock = Lock()

    def get(self, schema: Schema, is_resource: bool) -> CompiledRules | None:
        key = id(schema), is_resource
        with self._lock:
            entry = self._rules.get(key)
            if entry is None:
                return None
            self._rules.move_to_end(key)
            return entry[1]

    def compiled(self, schema: Schema, recorder: RuleRecorder, *, is_resource: bool) -> CompiledRules:
        """Compile the rules of a schema and keep them."""
        began = recorder.clock.monotonic()
        compiled = CompiledRules(schema, schema, declared(schema, is_resource=is_resource), is_resource=is_resource)
        recorder.compiled(began)
        with self._lock:
            self._rules[id(schema), is_resource] = schema, compiled
            while len(self._rules) > _MOST_SCHEMAS:
                self._rules.popitem(last=False)
        return compiled


_MOST_SCHEMAS = 512
_kept = _KeptRules()
