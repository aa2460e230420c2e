"""Rule checks: validates the CEL rules in the schema of a definition: they compile, and their cost is limited.

Must hold: errors of inner schemas come before those of outer ones. An excessive cost is reported once for its rule and
once for the total.
"""

from collections.abc import Sequence

from msgspec import Struct, field

from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.apiextensions.cel_rules import rule_costs
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_costs import RULE_LIMIT, Total
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_programs import RULES, Compiled, Compiler
from aio_apiserver.registry.groups.apiextensions.definitions import internal_types
from aio_apiserver.registry.machinery.cel import names
from aio_apiserver.registry.machinery.cel.schema_types import Declared, declared
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural.plain import is_plain

_NO_TYPE = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: "
    "unable to convert structural schema to CEL declarations"
)
_CORRELATED_MAPS = (None, "granular", "atomic")


class _Place(Struct, frozen=True):
    """A schema and its position. `times` is how often its value can occur, and `declared` is its CEL type inside of a
    schema with rules.

    `uncorrelated` is the path from which on old and new values cannot be matched.
    """

    schema: Schema
    path: str
    times: int | None
    declared: Declared | None = None
    is_root: bool = False
    uncorrelated: str = ""


class RuleChecks(Struct):
    """Checks one schema. `measures`: the cost of single rules is limited. `unsound`: paths with other errors, at which
    rules cannot compile.
    """

    measures: bool
    unsound: Sequence[str] = ()
    _total: Total = field(default_factory=Total)

    def check(self, schema: Schema, path: str) -> list[FieldError]:
        """All errors of the rules."""
        found = self._check(_Place(schema, path, 1, is_root=True))
        return found + self._total.errors(path)

    def _check(self, place: _Place) -> list[FieldError]:
        schema, path = place.schema, place.path
        rules = schema.get(RULES) or ()
        of_type = place.declared
        if of_type is None and rules:
            is_resource = place.is_root or bool(schema.get("x-kubernetes-embedded-resource"))
            of_type = declared(schema, is_resource=is_resource)
        found: list[FieldError] = []
        for below in _below(place, of_type):
            found += self._check(below)
        if not rules or any(_is_within(one, path) for one in self.unsound):
            return found
        if of_type is None:
            why = "internal error: failed to construct type information for x-kubernetes-validations rules: "
            return [
                *found,
                fields.internal(f"{path}.{RULES}", why + "unable to convert structural schema to CEL declarations"),
            ]
        compiler = Compiler(of_type)
        for index, rule in enumerate(rules):
            found += self._check_rule(place, of_type, compiler.compiled(rule), f"{path}.{RULES}[{index}]")
        return found

    def _check_rule(self, place: _Place, of_type: Declared, rule: Compiled, path: str) -> list[FieldError]:
        found = self._measure(rule, place, of_type, f"{path}.rule")
        shown = internal_types.rule(rule.rule)
        if rule.mistake:
            found.append(fields.invalid(f"{path}.rule", shown, rule.mistake))
        if rule.message_mistake:
            found.append(fields.invalid(f"{path}.messageExpression", shown, rule.message_mistake))
        elif rule.message is not None:
            found += self._limit("estimated messageExpression cost", rule.message_cost, f"{path}.messageExpression")
        if rule.uses_old:
            found += _check_correlation(rule, place, path)
        elif rule.rule.get("optionalOldSelf") is not None:
            why = "may not be set if oldSelf is not used in rule"
            found.append(fields.invalid(f"{path}.optionalOldSelf", rule.rule["optionalOldSelf"], why))
        return found

    def _measure(self, rule: Compiled, place: _Place, of_type: Declared, path: str) -> list[FieldError]:
        cost = rule_costs.of_rule(rule.cost, place.times, of_type.smallest)
        return self._limit("estimated rule cost", cost, path)

    def _limit(self, what: str, cost: int, path: str) -> list[FieldError]:
        self._total.add(cost, path)
        if not self.measures or cost <= RULE_LIMIT:
            return []
        return [fields.forbidden(path, rule_costs.excess(what, cost, RULE_LIMIT))]


def _is_within(path: str, place: str) -> bool:
    """Whether a path equals `place` or is inside of it."""
    return path.startswith(place) and path[len(place) : len(place) + 1] in ("", ".", "[")


def _check_correlation(rule: Compiled, place: _Place, path: str) -> list[FieldError]:
    if not place.uncorrelated:
        return []
    why = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {place.uncorrelated}"
    return [fields.invalid(f"{path}.rule", rule.rule["rule"], why)]


def _below(place: _Place, of_type: Declared | None) -> list[_Place]:
    schema, path = place.schema, place.path
    times = rule_costs.times_below(schema, place.times)
    found = []
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        element = of_type.element if of_type is not None else None
        found.append(_Place(others, f"{path}.additionalProperties", times, element, uncorrelated=place.uncorrelated))
    is_correlated = schema.get("x-kubernetes-map-type") in _CORRELATED_MAPS
    uncorrelated = place.uncorrelated or ("" if is_correlated else path)
    for name, below in (schema.get("properties") or {}).items():
        if is_plain(below):
            continue
        part = of_type.fields.get(names.escape(name) or "") if of_type is not None else None
        found.append(_Place(below, f"{path}.properties[{name}]", times, part, uncorrelated=uncorrelated))
    items = schema.get("items")
    if isinstance(items, dict):
        element = of_type.element if of_type is not None else None
        is_map = schema.get("x-kubernetes-list-type") == "map"
        uncorrelated = place.uncorrelated or ("" if is_map else path)
        found.append(_Place(items, f"{path}.items", times, element, uncorrelated=uncorrelated))
    return found
