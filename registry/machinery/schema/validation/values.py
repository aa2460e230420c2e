"""Values: validates a value against a schema: types, numbers, strings, lists, objects, combinations.

Must hold: all errors are found, in kube-apiserver's order. Errors of parts that correspond to an unchanged old value
are dropped. A validation pays its budget for each value and schema; a small value can meet a schema of a megabyte.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from aio_apiserver.base.budget import Budget, BudgetLimits
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.validation import combinations, formats, numbers, patterns
from aio_apiserver.registry.machinery.schema.validation.correlation import Correlated
from aio_apiserver.registry.machinery.schema.validation.enums import Allowed
from aio_apiserver.registry.machinery.schema.validation.result import MOST, Result

LIMITS = BudgetLimits(steps=2_000_000, bytes_made=0)
"""What the validation of one object may cost: some 4 s in the worker thread."""
NOWHERE = "<nil>"
"""The field of errors that concern no single field."""

_INT64 = range(-(2**63), 2**63)
_SAYS_NOTHING = frozenset({"type", "description", "title", "default", "example", "nullable"})
_PLAIN: Mapping[str, tuple[type, int]] = {"string": (str, 7), "boolean": (bool, 6), "integer": (int, 8)}
"""For schemas with a type and no constraint: the Python type, and the checks that a match counts."""


class SchemaPlan(Struct, frozen=True):
    """The parts of a schema that are read once for all values."""

    types: tuple[str, ...]
    form: str
    form_name: str
    is_nullable: bool
    combines: bool
    allowed: Allowed | None
    plain: type | None
    matches: int

    @classmethod
    def of(cls, schema: Schema, *, types_int_or_string: bool) -> "SchemaPlan":
        name = schema.get("type") or ""
        types: tuple[str, ...] = (name,) if name else ()
        if types_int_or_string and schema.get("x-kubernetes-int-or-string"):
            types = ("integer", "string")
        plain, matches = _PLAIN.get(name, (None, 0)) if schema.keys() <= _SAYS_NOTHING else (None, 0)
        return cls(
            types,
            formats.effective(schema.get("format") or "", types[0] if len(types) == 1 else ""),
            schema.get("format") or "",
            bool(schema.get("nullable")),
            any(schema.get(word) is not None for word in ("anyOf", "oneOf", "allOf", "not")),
            Allowed(schema["enum"]) if schema.get("enum") else None,
            plain,
            matches,
        )


_STEPS_OF_A_VALUE = 3
_PARTS_OF_A_STEP = 16
"""To pass by a member, or an element without constraints, takes a small part of a step."""
Plans = dict[int, SchemaPlan]
"""By the identity of the schema. The schema must live as long as this dict."""


def validate(
    value: Any, schema: Schema, *, plans: Plans, budget: Budget, path: str = "", old: Correlated | None = None
) -> list[FieldError]:
    """The errors of a value. `path`: its field path; `old`: its old value. Raises BudgetExceeded.

    plans: the cached parts of the schema; new ones are added.
    """
    return list(ValueValidation(path, plans, budget).value(value, schema, "", old).errors.values())


def validate_default(value: Any, schema: Schema, *, path: str, budget: Budget) -> list[FieldError]:
    """The errors of a default. In defaults, upstream does not check the type of int-or-string values.

    Raises BudgetExceeded.
    """
    validation = ValueValidation(path, {}, budget, types_int_or_string=False)
    return list(validation.value(value, schema, "").errors.values())


class ValueValidation:
    """One validation. `name` is the path in the value, which begins with a dot below the first level."""

    def __init__(self, path: str, plans: Plans, budget: Budget, *, types_int_or_string: bool = True) -> None:
        self._path = path
        self._budget = budget
        self._types_int_or_string = types_int_or_string
        self._plans = plans

    def value(self, value: Any, schema: Schema, name: str, old: Correlated | None = None) -> Result:
        """Validate a value at a path."""
        result = self.checked(value, schema, name, old)
        if result.errors and old is not None and old.is_same:
            return Result(matches=result.matches)
        return result

    def where(self, name: str) -> str:
        """The field path of an error."""
        relative = name.removeprefix(".")
        if self._path and relative:
            return f"{self._path}.{relative}"
        return relative or self._path or NOWHERE

    def general(self, result: Result, message: str) -> None:
        """Add an error that concerns no single field."""
        result.add(message, field.invalid(self._path or NOWHERE, "", message))

    def invalid(self, result: Result, name: str, value: Any, text: str) -> None:
        """Add an error about a value."""
        message = f"{name} in body {text}"
        result.add(message, field.invalid(self.where(name), value, message))

    def stated(self, result: Result, name: str, value: Any, message: str) -> None:
        """Add an error about a value, with the whole message."""
        result.add(message, field.invalid(self.where(name), value, message))

    def type_invalid(self, result: Result, name: str, value: str, wanted: str) -> None:
        """Add an error about the type of a value."""
        message = f"{name} in body must be of type {wanted}: {quote(value)}"
        result.add(message, field.type_invalid(self.where(name), value, message))

    def checked(self, value: Any, schema: Schema, name: str, old: Correlated | None) -> Result:
        """Validate a value; its own errors count even if it has not changed."""
        plan = self._plan(schema)
        if type(value) is plan.plain and (plan.plain is not int or value in _INT64):
            return Result(matches=plan.matches)
        self._budget.spend(_STEPS_OF_A_VALUE)
        result = Result()
        if value is None:
            result.matches += self._type(result, value, plan, name)
            self._enum(result, value, plan, name)
            return result
        if plan.types or plan.form:
            result.matches += 1 + self._type(result, value, plan, name)
        if plan.combines:
            combinations.check(self, result, value, schema, name, old)
        result.matches += 2
        if isinstance(value, str):
            self._text(result, value, schema, plan, name)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers.check(self, result, value, schema, name)
            result.matches += 2
        elif isinstance(value, list):
            self._list(result, value, schema, name, old)
            result.matches += 2
        self._enum(result, value, plan, name)
        if isinstance(value, dict):
            self._object(result, value, schema, name, old)
            result.matches += 1
        result.matches += 2
        return result

    def _plan(self, schema: Schema) -> SchemaPlan:
        plan = self._plans.get(id(schema))
        if plan is None:
            plan = self._plans[id(schema)] = SchemaPlan.of(schema, types_int_or_string=self._types_int_or_string)
        return plan

    def _text(self, result: Result, value: str, schema: Schema, plan: SchemaPlan, name: str) -> None:
        self._string(result, value, schema, name)
        result.matches += 1
        if plan.form in formats.CHECKS:
            if not formats.CHECKS[plan.form](value):
                self.type_invalid(result, name, value, schema["format"])
            result.matches += 1

    def _type(self, result: Result, value: Any, plan: SchemaPlan, name: str) -> bool:
        """Whether the type of the value is allowed."""
        types, form = plan.types, plan.form
        if value is None:
            if not types or plan.is_nullable:
                return True
            self.type_invalid(result, name, "null", ",".join(types))
            return False
        found, found_form = json_type(value)
        is_text = found in {"string", "array"}
        is_number = "number" in types or "integer" in types
        fits = found in types or (found == "integer" and "number" in types)
        if form and not is_text and not fits and found_form != form:
            self.type_invalid(result, name, found_form, plan.form_name)
            return False
        if form and is_text and not is_number:
            return True
        if not fits:
            self.type_invalid(result, name, found, ",".join(types))
        return fits

    def _enum(self, result: Result, value: Any, plan: SchemaPlan, name: str) -> None:
        allowed = plan.allowed
        if allowed is not None and not allowed.holds(value):
            message = f"{name} in body should be one of those in {id(allowed)}"
            result.add(message, field.not_supported(self.where(name), value, allowed.texts))

    def _string(self, result: Result, value: str, schema: Schema, name: str) -> None:
        longest, shortest, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
        if longest is not None and len(value) > longest:
            message = f"{name} in body should be at most {longest} chars long"
            result.add(message, field.too_long(self.where(name), longest))
        elif shortest is not None and len(value) < shortest:
            self.invalid(result, name, value, f"should be at least {shortest} chars long")
        elif pattern and not patterns.matches(pattern, value, self._budget):
            self.invalid(result, name, value, f"should match '{pattern}'")

    def _list(self, result: Result, value: list[Any], schema: Schema, name: str, old: Correlated | None) -> None:
        items = schema.get("items")
        if isinstance(items, dict):
            plan = self._plan(items)
            self._budget.spend(len(value) // _PARTS_OF_A_STEP)
            for index, item in enumerate(value):
                if type(item) is plan.plain and plan.plain is not int:
                    result.matches += plan.matches
                    continue
                if len(result.errors) >= MOST:
                    break
                below = old.element(index) if old is not None else None
                result.merge([self.value(item, items, f"{name}[{index}]", below)])
        fewest, most = schema.get("minItems"), schema.get("maxItems")
        if fewest is not None and len(value) < fewest:
            self.invalid(result, name, len(value), f"should have at least {fewest} items")
        if most is not None and len(value) > most:
            message = f"{name} in body should have at most {most} items"
            result.add(message, field.too_many(self.where(name), len(value), most))

    def _object(self, result: Result, value: dict[str, Any], schema: Schema, name: str, old: Correlated | None) -> None:
        self._count(result, len(value), schema, name)
        properties: dict[str, Schema] = schema.get("properties") or {}
        others = schema.get("additionalProperties")
        self._budget.spend((len(value) + len(properties)) // _PARTS_OF_A_STEP)
        if isinstance(others, dict):
            for key, item in value.items():
                if key not in properties:
                    below = old.member(key) if old is not None else None
                    result.merge([self.value(item, others, f"{name}.{key}", below)])
        for key, of_member in properties.items():
            if key in value:
                is_correlated = old is not None and (name or key not in {"kind", "apiVersion"})
                below = old.member(key) if old is not None and is_correlated else None
                result.merge([self.value(value[key], of_member, f"{name}.{key}" if name else key, below)])
        self._required(result, value, schema, name)

    def _required(self, result: Result, value: dict[str, Any], schema: Schema, name: str) -> None:
        required = schema.get("required") or ()
        self._budget.spend(len(required))
        for key in required:
            if key not in value:
                missing = f"{name}.{key}"
                result.add(f"{missing} in body is required", field.required(self.where(missing)))

    def _count(self, result: Result, count: int, schema: Schema, name: str) -> None:
        fewest, most = schema.get("minProperties"), schema.get("maxProperties")
        if fewest is not None and count < fewest:
            self.invalid(result, name, count, f"should have at least {fewest} properties")
        if most is not None and count > most:
            message = f"{name} in body should have at most {most} properties"
            result.add(message, field.too_many(self.where(name), count, most))


def json_type(value: Any) -> tuple[str, str]:
    """The JSON type of a value, and the format that messages use for it."""
    if isinstance(value, bool):
        return "boolean", ""
    if isinstance(value, str):
        return "string", ""
    if isinstance(value, int) and value in _INT64:
        return "integer", "int64"
    if isinstance(value, int | float):
        return "number", "float64"
    return ("array", "") if isinstance(value, list) else ("object", "")
