"""Rule evaluation: evaluates the CEL rules of a schema on an object.

Must hold: evaluation stops when all rules together exceed the cost budget, or do and make more than the server allows
for one object. A rule that fails on an unchanged value is a
warning instead of an error. The messages are kube-apiserver's.
"""

import contextlib
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from aio_apiserver.base.budget import Budget, BudgetLimits
from aio_apiserver.base.worker_thread import TakesLong
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_paths import member_path
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_programs import (
    OLD_SELF,
    RULES,
    SELF,
    Compiled,
    Compiler,
)
from aio_apiserver.registry.machinery.cel import names
from aio_apiserver.registry.machinery.cel.conversion import Convert, converter
from aio_apiserver.registry.machinery.cel.environment import CALL_LIMIT
from aio_apiserver.registry.machinery.cel.schema_types import Declared, declared
from aio_apiserver.registry.machinery.cel.values import NONE, CostExceeded, EvaluationError, Optional
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural.rules import has_rules
from aio_apiserver.registry.machinery.schema.validation import values
from aio_apiserver.registry.machinery.schema.validation.correlation import Correlated

BUDGET = 10_000_000
"""The cost limit of all rules for one object."""
PATIENCE = 50_000
"""The cost limit in the event loop, about 15 ms."""
LIMITS = BudgetLimits(steps=10_000_000, bytes_made=64 * 1024 * 1024)
"""What the functions of all rules for one object may do and make."""
_MESSAGE_LIMIT = 5 * 1024
_NO_MORE = "no further validation rules will be run"
_OUT_OF_BUDGET = f"validation failed due to running out of cost budget, {_NO_MORE}"
_COMPOSED = ("object", "array")


class _Finished(Exception):
    """Evaluation stops: the budget is used up, or one rule was too expensive."""


class RuleOutcome(Struct):
    """The result of an evaluation. `warnings` are failures on unchanged values. `patience` is the cost that is left in
    the event loop. `work` is the budget of the functions.
    """

    errors: list[FieldError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    budget: int = BUDGET
    patience: int = BUDGET
    work: Budget = field(default_factory=lambda: Budget(LIMITS))

    @property
    def limit(self) -> int:
        """The cost limit of the next evaluation."""
        return max(min(CALL_LIMIT, self.budget, self.patience), 0)

    def spend(self, cost: int) -> None:
        """Subtract the cost of an evaluation."""
        self.budget -= cost
        self.patience -= cost

    def check_patience(self) -> None:
        """After a stopped evaluation, raise TakesLong when a worker thread could continue it."""
        if self.patience < min(CALL_LIMIT, self.budget):
            raise TakesLong


class _Where(Struct, frozen=True):
    """A value's position: its path, its counterpart in the old object, or else the counterpart of a value around it."""

    path: str
    same: Correlated | None
    above: Correlated | None

    def member(self, name: str, path: str) -> "_Where":
        if self.same is None:
            return _Where(path, None, self.above)
        if self.above is None and name in ("apiVersion", "kind"):
            return _Where(path, None, None)
        return _Where(path, self.same.member(name), self.same)

    def element(self, index: int, path: str) -> "_Where":
        if self.same is None:
            return _Where(path, None, self.above)
        return _Where(path, self.same.element(index), self.same)

    @property
    def is_unchanged(self) -> bool:
        nearest = self.same if self.same is not None else self.above
        return nearest is not None and nearest.is_same


class CompiledRules:
    """The compiled rules at one schema and at the schemas inside of it."""

    def __init__(self, rules: Schema, node: Schema, of_type: Declared | None, *, is_resource: bool) -> None:
        self._schema = node
        self._type = node.get("type", "")
        self._compiled = _compiled(rules, of_type)
        self._convert: Convert | None = converter(node, is_resource=is_resource) if self._compiled else None
        self._all_of = [
            CompiledRules(one, node, of_type, is_resource=is_resource)
            for one in rules.get("allOf") or ()
            if has_rules(one)
        ]
        element = of_type.element if of_type is not None else None
        self._others = _part(rules.get("additionalProperties"), node.get("additionalProperties"), element)
        self._items = _part(rules.get("items"), node.get("items"), element)
        self._members = _members(rules, node, of_type)

    def evaluate(self, value: Any, old: Any, where: _Where, outcome: RuleOutcome) -> None:
        """Evaluate all rules on a value. Raises _Finished."""
        if value is None:
            return
        if self._compiled:
            self._judge(value, old, where, outcome)
        for rules in self._all_of:
            rules.evaluate(value, old, _Where(where.path, None, where.above), outcome)
        if isinstance(value, list):
            self._evaluate_items(value, where, outcome)
        elif isinstance(value, dict):
            self._evaluate_members(value, old if isinstance(old, dict) else {}, where, outcome)

    def _evaluate_items(self, value: list[Any], where: _Where, outcome: RuleOutcome) -> None:
        if self._items is None:
            return
        for index, element in enumerate(value):
            below = where.element(index, f"{where.path}[{index}]")
            self._items.evaluate(element, below.same.old if below.same is not None else None, below, outcome)

    def _evaluate_members(
        self, value: dict[str, Any], old: Mapping[str, Any], where: _Where, outcome: RuleOutcome
    ) -> None:
        if self._others is not None:
            for name, member in value.items():
                below = where.member(name, f"{where.path}[{name}]")
                self._others.evaluate(member, old.get(name), below, outcome)
        for name, member in value.items():
            rules = self._members.get(name)
            if rules is not None:
                below = where.member(name, f"{where.path}.{name}" if where.path else name)
                rules.evaluate(member, old.get(name), below, outcome)

    # The rules of this schema itself

    def _judge(self, value: Any, old: Any, where: _Where, outcome: RuleOutcome) -> None:
        if outcome.budget <= 0:
            outcome.errors.append(self._wrong(where, _OUT_OF_BUDGET))
            raise _Finished
        variables = _Variables(value, old, self._convert)
        for rule in self._compiled:
            if rule.mistake:
                outcome.errors.append(self._wrong(where, f"rule compile error: {rule.mistake}"))
            elif rule.program is not None and not (rule.uses_old and old is None and not rule.has_optional_old):
                self._judge_by(rule, variables, where, outcome)

    def _judge_by(self, rule: Compiled, variables: "_Variables", where: _Where, outcome: RuleOutcome) -> None:
        assert rule.program is not None
        try:
            verdict, cost = rule.program.evaluate(variables.of(rule), limit=outcome.limit, budget=outcome.work)
        except CostExceeded as exc:
            outcome.check_patience()
            self._stop(rule, str(exc), where, outcome)
        except EvaluationError as exc:
            outcome.spend(exc.cost)
            outcome.errors.append(self._wrong(where, _explained(str(exc), rule)))
            return
        outcome.spend(cost)
        if verdict is not True:
            self._fail(rule, variables, where, outcome)

    def _stop(self, rule: Compiled, why: str, where: _Where, outcome: RuleOutcome) -> None:
        """Report a rule that was too expensive by itself or for the remaining budget. Raises _Finished."""
        text = _OUT_OF_BUDGET
        if outcome.budget >= CALL_LIMIT:
            name = _name_of(rule)
            text = f"'{why}': {_NO_MORE} due to call cost exceeds limit for rule: {name}"
        outcome.errors.append(self._wrong(where, text))
        raise _Finished

    def _fail(self, rule: Compiled, variables: "_Variables", where: _Where, outcome: RuleOutcome) -> None:
        path = member_path(where.path, rule.rule.get("fieldPath") or "", self._schema)
        message = self._message(rule, variables, where, outcome) or _default_message(rule)
        error = self._error(rule, path, variables.value, message)
        if not rule.uses_old and where.is_unchanged:
            outcome.warnings.append(str(error))
        else:
            outcome.errors.append(error)

    def _message(self, rule: Compiled, variables: "_Variables", where: _Where, outcome: RuleOutcome) -> str:
        """The text of messageExpression; empty when it is unusable. Raises _Finished."""
        if rule.message is None:
            return ""
        source = quote(rule.rule["messageExpression"])
        try:
            text, cost = rule.message.evaluate(variables.of(rule), limit=outcome.limit, budget=outcome.work)
        except CostExceeded:
            outcome.check_patience()
            why = f"{_NO_MORE} due to call cost exceeds limit for messageExpression: {source}"
            if outcome.budget < CALL_LIMIT:
                why = f"messageExpression evaluation failed due to running out of cost budget, {_NO_MORE}"
            outcome.errors.append(self._wrong(where, why))
            raise _Finished from None
        except EvaluationError as exc:
            outcome.spend(exc.cost)
            return ""
        outcome.spend(cost)
        trimmed = str(text).strip()
        return trimmed if len(trimmed.encode()) <= _MESSAGE_LIMIT and "\n" not in trimmed else ""

    def _error(self, rule: Compiled, path: str, value: Any, message: str) -> FieldError:
        where = path or values.NOWHERE
        is_composed = self._type in _COMPOSED
        match rule.rule.get("reason"):
            case "FieldValueForbidden":
                return fields.forbidden(where, message)
            case "FieldValueRequired":
                return fields.required(where, message)
            case "FieldValueDuplicate":
                if is_composed:
                    return FieldError(ErrorType.DUPLICATE, where, position=self._type == "array")
                return fields.duplicate(where, value)
        if is_composed:
            return FieldError(ErrorType.INVALID, where, detail=message, position=self._type == "array")
        return fields.invalid(where, value, message)

    def _wrong(self, where: _Where, why: str) -> FieldError:
        return replace(fields.invalid(where.path or values.NOWHERE, self._type, why), position=SHOWS_TYPE)


SHOWS_TYPE = -1
"""The position of an error whose value is the name of a type."""


class _Variables:
    """The variables `self` and `oldSelf`, converted once when the first rule needs them."""

    def __init__(self, value: Any, old: Any, convert: Convert | None) -> None:
        self.value = value
        self._old = old
        self._convert = convert
        self._seen: dict[str, Any] = {}

    def of(self, rule: Compiled) -> Mapping[str, Any]:
        seen = {SELF: self._converted(SELF, self.value)}
        if not rule.uses_old:
            return seen
        old = self._converted(OLD_SELF, self._old) if self._old is not None else None
        if rule.has_optional_old:
            seen[OLD_SELF] = NONE if self._old is None else Optional(True, old)
        else:
            seen[OLD_SELF] = old
        return seen

    def _converted(self, name: str, value: Any) -> Any:
        if name not in self._seen:
            self._seen[name] = self._convert(value) if self._convert is not None else value
        return self._seen[name]


def evaluate(rules: CompiledRules, new: Any, old: Any, schema: Schema, *, path: str, outcome: RuleOutcome) -> None:
    """Evaluate the rules on a whole value, which may replace an old one. Raises TakesLong."""
    same = Correlated(new, old, schema) if old is not None else None
    with contextlib.suppress(_Finished):
        rules.evaluate(new, old, _Where(path, same, None), outcome)


def _compiled(rules: Schema, of_type: Declared | None) -> list[Compiled]:
    stated = rules.get(RULES) or ()
    if not stated:
        return []
    if of_type is None:
        return [Compiled(rule, mistake="failed to convert to declType for CEL validation rules") for rule in stated]
    compiler = Compiler(of_type)
    return [compiler.compiled(rule) for rule in stated]


def _part(rules: Any, node: Any, of_type: Declared | None) -> CompiledRules | None:
    if not isinstance(rules, dict) or not isinstance(node, dict) or not has_rules(rules):
        return None
    return CompiledRules(rules, node, of_type, is_resource=bool(node.get("x-kubernetes-embedded-resource")))


def _members(rules: Schema, node: Schema, of_type: Declared | None) -> dict[str, CompiledRules]:
    found: dict[str, CompiledRules] = {}
    known = node.get("properties") or {}
    for name, below in (rules.get("properties") or {}).items():
        if name not in known:
            continue
        escaped = names.escape(name)
        if escaped is not None:
            part = of_type.fields.get(escaped) if of_type is not None else None
        else:
            part = declared(known[name], is_resource=bool(known[name].get("x-kubernetes-embedded-resource")))
        made = _part(below, known[name], part) if part is not None else None
        if made is not None:
            found[name] = made
    return found


def _explained(why: str, rule: Compiled) -> str:
    name = _name_of(rule)
    if why.startswith("no such overload"):
        return (
            f"'{why}': call arguments did not match a supported operator, function or macro signature for rule: {name}"
        )
    return f"{why} evaluating rule: {name}"


def _name_of(rule: Compiled) -> str:
    text: str = rule.rule.get("message") or rule.rule["rule"]
    return text.strip()


def _default_message(rule: Compiled) -> str:
    message: str = rule.rule.get("message") or ""
    return message.strip() if message else f"failed rule: {_name_of(rule)}"
