"""Device parts: the rules that claims, classes and slices share: selectors, driver configuration, binding conditions.
Pure.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.resource import device_names, device_taints, lists

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.resource import device_expressions
else:
    device_expressions = Deferred("aio_apiserver.registry.groups.resource.device_expressions")

Part = Mapping[str, Any]

_MOST_SELECTORS = 32
MOST_CONFIGURATIONS = 32
_LONGEST_EXPRESSION = 10 * 1024
_LONGEST_PARAMETERS = 10 * 1024
_MOST_CONDITIONS = 4
_CONDITIONS = ("bindingConditions", "bindingFailureConditions")


def validate_selectors(selectors: Sequence[Part], path: str) -> list[FieldError]:
    """The errors of device selectors."""
    return lists.validate_list(selectors, path, _MOST_SELECTORS, _validate_selector)


def _validate_selector(selector: Part, path: str) -> list[FieldError]:
    cel = selector.get("cel")
    return [field.required(f"{path}.cel")] if cel is None else _validate_expression(cel, f"{path}.cel.expression")


def _validate_expression(cel: Part, path: str) -> list[FieldError]:
    """The errors of a CEL selector."""
    expression = cel.get("expression") or ""
    if len(expression.encode()) > _LONGEST_EXPRESSION:
        return [field.too_long(path, _LONGEST_EXPRESSION)]
    return device_expressions.validate(expression, path)


def validate_configuration(config: Part, path: str, *, is_stored: bool = False) -> list[FieldError]:
    """The errors of opaque driver parameters. Parameters that are already stored may be too long."""
    opaque, here = config.get("opaque"), f"{path}.opaque"
    if opaque is None:
        return [field.required(here)]
    errors = device_names.validate_driver(opaque.get("driver") or "", f"{here}.driver")
    limit = None if is_stored else _LONGEST_PARAMETERS
    return errors + validate_raw(opaque.get("parameters"), f"{here}.parameters", limit=limit)


def validate_raw(value: Any, path: str, *, limit: int | None) -> list[FieldError]:
    """The errors of a JSON object with a limited size."""
    if value is None:
        return [field.required(path)]
    if limit is not None and len(orjson.dumps(value)) > limit:
        return [field.too_long(path, limit)]
    return [] if isinstance(value, dict) else [field.invalid(path, "<value omitted>", "must be a valid JSON object")]


def validate_binding(part: Part, path: str) -> list[FieldError]:
    """The errors of bindingConditions and bindingFailureConditions of a device."""
    errors: list[FieldError] = []
    wanted, unwanted = (part.get(name) or () for name in _CONDITIONS)
    for name, one in zip(_CONDITIONS, (wanted, unwanted), strict=True):
        errors += lists.validate_list(one, f"{path}.{name}", _MOST_CONDITIONS, device_taints.validate_key)
    first, second = (f"{path}.{name}" for name in _CONDITIONS)
    errors += [field.duplicate(f"{first}[{i}]", one) for i, one in enumerate(wanted) if one in wanted[:i]]
    for index, one in enumerate(unwanted):
        if one in unwanted[:index]:
            errors.append(field.duplicate(f"{second}[{index}]", one))
        if one in wanted:
            why = "bindingFailureConditions must not overlap with bindingConditions"
            errors.append(field.invalid(f"{second}[{index}]", one, why))
    if unwanted and not wanted:
        why = "bindingConditions are required to use bindingFailureConditions"
        errors.append(field.invalid(first, part.get(_CONDITIONS[0]), why))
    if wanted and not unwanted:
        why = "bindingFailureConditions are required to use bindingConditions"
        errors.append(field.invalid(second, part.get(_CONDITIONS[1]), why))
    return errors
