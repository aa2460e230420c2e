"""Expressions: compiles and validates the CEL expressions of webhooks and policies before they are stored. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError

if TYPE_CHECKING:
    from aio_apiserver.registry.generic.expressions import admission
    from aio_apiserver.registry.machinery.cel import types
else:
    admission = Deferred("aio_apiserver.registry.generic.expressions.admission")
    types = Deferred("aio_apiserver.registry.machinery.cel.types")

_MOST_CONDITIONS = 64


Compile = Callable[[str], object]
"""Compiles an expression. Raises UnusableExpression."""


def validate(expression: str, path: str, compile_it: Compile, *, missing: str = "") -> list[FieldError]:
    """The errors of an expression. `missing` is the detail for an empty one."""
    if not expression.strip():
        return [field.required(path, missing)]
    return mistakes(expression, path, compile_it)


def mistakes(expression: str, path: str, compile_it: Compile, *, shown: str | None = None) -> list[FieldError]:
    """The error of an expression that does not compile. `shown` replaces its text in the error."""
    try:
        compile_it(expression)
    except admission.UnusableExpression as exc:
        if exc.is_internal:
            return [field.internal(path, str(exc))]
        return [field.invalid(path, expression if shown is None else shown, str(exc))]
    return []


def validate_conditions(
    conditions: Sequence[Mapping[str, Any]], path: str, *, has_params: bool = False
) -> list[FieldError]:
    """The errors of matchConditions, which decide whether a webhook or policy is called."""
    errors, count = [], len(conditions)
    if count > _MOST_CONDITIONS:
        errors.append(field.too_many(path, count, _MOST_CONDITIONS))
    if not count:
        return []
    within = admission.environment(admission.Given(params=has_params))
    seen: set[str] = set()

    def compile_condition(text: str) -> object:
        return admission.compiled(within, text, (types.BOOL,))

    for index, condition in enumerate(conditions):
        name = condition.get("name") or ""
        text = (condition.get("expression") or "").strip()
        errors += validate(text, f"{path}[{index}].expression", compile_condition)
        errors += _validate_name(name, f"{path}[{index}].name")
        if name in seen:
            errors.append(field.duplicate(f"{path}[{index}].name", name))
        seen |= {name} - {""}
    return errors


def _validate_name(name: str, path: str) -> list[FieldError]:
    if not name:
        return [field.required(path)]
    return field.invalid_each(path, name, names.check_qualified_name(name))
