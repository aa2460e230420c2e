"""LimitRanges: minimums, maximums and defaults for the resources of pods, containers and claims in a namespace.

This module has the rules for LimitRange objects; the admission plugin LimitRanger applies them. Must hold: a missing
default of a container is derived from the other limits, as in kube-apiserver.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.amounts import parsed
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.quantity import Quantity
from aio_apiserver.registry.base.validation import counted_amounts, field, names, resource_names
from aio_apiserver.registry.base.validation.field import FieldError, TypedText
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing.columns import BY_TIME

_POD, _CONTAINER, _CLAIM = "Pod", "Container", "PersistentVolumeClaim"
_TYPES = frozenset({_POD, _CONTAINER, _CLAIM})
_ONE = quantity.parse("1")
_MAX_MILLI_VALUE = (2**63 - 1) // 1000
"""Larger values are compared as whole amounts, because their thousandths do not fit into 64 bits."""


class LimitRangeStrategy(Strategy, frozen=True, kw_only=True):
    """The rules for limit ranges, which have one item for each type of object."""

    def default(self, obj: Object) -> None:
        for item in objects.get(obj, "spec.limits", ()):
            if item.get("type") == _CONTAINER:
                _complete(item)

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        if not obj["metadata"].get("name"):
            obj["metadata"]["name"] = str(uuid.uuid4())

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj)
        seen = set()
        for index, item in enumerate(objects.get(obj, "spec.limits", ())):
            path, limit_type = f"spec.limits[{index}]", item.get("type", "")
            errors += _validate_type(limit_type, f"{path}.type")
            if limit_type in seen:
                errors.append(field.duplicate(f"{path}.type", limit_type))
            seen.add(limit_type)
            errors += _validate_item(item, path)
        return errors

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return self.validate_again(context, new)


def _complete(item: Object) -> None:
    limits = {**(item.get("max") or {}), **(item.get("default") or {})}
    requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
    for name, amounts in (("default", limits), ("defaultRequest", requests)):
        if amounts:
            item[name] = amounts


def _validate_type(limit_type: str, path: str) -> list[FieldError]:
    errors = field.invalid_each(path, TypedText(limit_type), names.check_qualified_name(limit_type))
    if not errors and "/" not in limit_type and limit_type not in _TYPES:
        errors.append(field.invalid_typed(path, limit_type, "must be a standard limit type or fully qualified"))
    return errors


def _validate_item(item: Mapping[str, Any], path: str) -> list[FieldError]:
    limit_type = item.get("type", "")
    members = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"]
    errors = _validate_names(item, path, ("max", "min"))
    if limit_type == _POD:
        for name in ("default", "defaultRequest"):
            members.remove(name)
            if item.get(name):
                errors.append(field.forbidden(f"{path}.{name}", "may not be specified when `type` is 'Pod'"))
    else:
        errors += _validate_names(item, path, ("default", "defaultRequest"))
    if limit_type == _CLAIM and not any("storage" in (item.get(name) or {}) for name in ("min", "max")):
        detail = "either minimum or maximum storage value is required, but neither was provided"
        errors.append(field.required(f"{path}.limits", detail))
    errors += _validate_names(item, path, ("maxLimitRequestRatio",))
    amounts = {name: parsed(item.get(name)) for name in members}
    for resource in dict.fromkeys(one for name in members for one in amounts[name]):
        errors += _validate_amounts({name: amounts[name].get(resource) for name in members}, resource, path)
    return errors


def _validate_names(item: Mapping[str, Any], path: str, members: tuple[str, ...]) -> list[FieldError]:
    in_container = item.get("type", "") in {_POD, _CONTAINER}
    check = resource_names.validate_container_name if in_container else resource_names.validate_name
    return [error for name in members for one in item.get(name) or () for error in check(one, f"{path}.{name}[{one}]")]


_ORDERED: tuple[tuple[str, str, str, str, str], ...] = (
    ("min", "max", "min", "min", "min value {} is greater than max value {}"),
    (
        "min",
        "defaultRequest",
        "defaultRequest",
        "defaultRequest",
        "min value {} is greater than default request value {}",
    ),
    (
        "defaultRequest",
        "max",
        "defaultRequest",
        "defaultRequest",
        "default request value {} is greater than max value {}",
    ),
    (
        "defaultRequest",
        "default",
        "defaultRequest",
        "defaultRequest",
        "default request value {} is greater than default limit value {}",
    ),
    ("min", "default", "default", "min", "min value {} is greater than default value {}"),
    ("default", "max", "default", "max", "default value {} is greater than max value {}"),
)
"""Pairs of amounts of which the first may not exceed the second, with the field, the amount and the text of the error.
"""

_Given = Mapping[str, Quantity | None]


def _validate_amounts(given: _Given, resource: str, path: str) -> list[FieldError]:
    errors = []
    for lower, upper, place, shown, detail in _ORDERED:
        least, most = given.get(lower), given.get(upper)
        if least is not None and most is not None and least.nanos > most.nanos:
            text = detail.format(least, most)
            errors.append(field.invalid(f"{path}.{place}[{resource}]", str(given[shown]), text))
    errors += _validate_ratio(given, f"{path}.maxLimitRequestRatio[{resource}]")
    default, request = given.get("default"), given.get("defaultRequest")
    is_fixed = not resource_names.allows_overcommit(resource)
    if is_fixed and default is not None and request is not None and default.nanos != request.nanos:
        detail = f"default value {default} must equal to defaultRequest value {request} in {resource}"
        errors.append(field.invalid(f"{path}.defaultRequest[{resource}]", str(request), detail))
    return errors


def _validate_ratio(given: _Given, path: str) -> list[FieldError]:
    ratio, least, most = given.get("maxLimitRequestRatio"), given.get("min"), given.get("max")
    if ratio is None:
        return []
    errors = []
    if ratio.nanos < _ONE.nanos:
        errors.append(field.invalid(path, str(ratio), f"ratio {ratio} is less than 1"))
    if least is None or most is None:
        return errors
    value, limit = _ratios(ratio, least, most)
    if value > limit:
        errors.append(field.invalid(path, str(ratio), f"ratio {ratio} is greater than max/min = {limit:f}"))
    return errors


def _ratios(ratio: Quantity, least: Quantity, most: Quantity) -> tuple[float, float]:
    """The allowed ratio, and the largest ratio that min and max permit."""
    whole = [counted_amounts.value(one) for one in (ratio, least, most)]
    if all(value < _MAX_MILLI_VALUE for value in whole):
        fine = [counted_amounts.milli_value(one) for one in (ratio, least, most)]
        return fine[0] / 1000, _divided(fine[2], fine[1])
    return float(whole[0]), _divided(whole[2], whole[1])


def _divided(one: int, other: int) -> float:
    if other:
        return one / other
    return float("inf") if one > 0 else float("-inf") if one < 0 else float("nan")


LIMITRANGES = Kind(
    group="",
    plural="limitranges",
    kind="LimitRange",
    short_names=("limits",),
    strategy=LimitRangeStrategy(allows_create_on_update=True),
    columns=BY_TIME,
)
