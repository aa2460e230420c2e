"""Capacities: validates the capacity of devices, and the policy for requests to shared devices. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.resource import lists

Part = Mapping[str, Any]

_MOST_OPTIONS = 10
_NANO = -9
_NANOS = 10**9


def validate_alone(capacity: Part, path: str) -> list[FieldError]:
    """The errors of the capacity of a device that is not shared."""
    if capacity.get("requestPolicy") is None:
        return []
    return [field.forbidden(f"{path}.requestPolicy", "allowMultipleAllocations must be true")]


def validate_shared(capacity: Part, path: str) -> list[FieldError]:
    """The errors of the capacity of a shared device."""
    policy, here = capacity.get("requestPolicy"), f"{path}.requestPolicy"
    if policy is None:
        return []
    options, limits, default = policy.get("validValues") or (), policy.get("validRange"), policy.get("default")
    if options and limits is not None:
        why = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
        return [field.forbidden(here, why)]
    whole = capacity.get("value") or "0"
    if options:
        if default is None:
            return [field.required(f"{here}.default", "required when validValues is defined")]
        return _validate_options(options, f"{here}.validValues", default=default, whole=whole)
    if limits is None:
        return []
    if default is None:
        return [field.required(f"{here}.default", "required when validRange is defined")]
    return _validate_range(limits, f"{here}.validRange", default=default, whole=whole)


def _validate_options(options: Sequence[str], path: str, *, default: str, whole: str) -> list[FieldError]:
    numbers = [_nanos(one) for one in options]
    errors = [
        field.invalid(f"{path}[{index}]", options[index], "values must be sorted in ascending order")
        for index in range(1, len(options))
        if numbers[index - 1] > numbers[index]
    ]

    def check(option: str, at: str) -> list[FieldError]:
        why = f"option is larger than capacity value: {whole}"
        return [field.invalid(at, option, why)] if _nanos(option) > _nanos(whole) else []

    errors += lists.validate_set(options, path, _MOST_OPTIONS, check, key=lambda one: str(_value(one)))
    if len(options) > _MOST_OPTIONS or _nanos(default) not in numbers:
        errors.append(field.invalid(path, default, "default value is not valid according to the requestPolicy"))
    return errors


def _validate_range(limits: Part, path: str, *, default: str, whole: str) -> list[FieldError]:
    least, most, step = (limits.get(name) for name in ("min", "max", "step"))
    if least is None:
        return [field.required(f"{path}.min", "required when validRange is defined")]
    errors = _compare(f"{path}.min", ((least, whole, least, f"min is larger than capacity value: {whole}"),))
    errors += _compare(f"{path}.min", ((least, default, default, f"default is less than min: {least}"),))
    if most is not None:
        checks = (
            (least, most, least, f"min is larger than max: {most}"),
            (most, whole, most, f"max is larger than capacity value: {whole}"),
            (default, most, default, f"default is more than max: {most}"),
        )
        errors += _compare(f"{path}.max", checks)
    return errors + (_validate_step(limits, f"{path}.step", default=default, whole=whole) if step is not None else [])


def _compare(path: str, checks: Sequence[tuple[str, str, str, str]]) -> list[FieldError]:
    """The errors of rows whose first amount is larger than the second, with the amount to show and the detail."""
    return [field.invalid(path, shown, why) for one, other, shown, why in checks if _nanos(one) > _nanos(other)]


def _validate_step(limits: Part, path: str, *, default: str, whole: str) -> list[FieldError]:
    least, most, step = limits["min"], limits.get("max"), limits["step"]
    errors, first = [], quantity.parse(least)
    added = quantity.Quantity(first.nanos + _nanos(step), _NANO, first.format)
    if added.nanos > _nanos(whole):
        why = f"one step {added} is larger than capacity value: {whole}"
        errors.append(field.invalid(path, step, why))
    for value in (default, *(() if most is None else (most,))):
        if _value(step) and (_value(value) - _value(least)) % _value(step):
            why = f"value is not a multiple of a given step ({step}) from ({least})"
            errors.append(field.invalid(path, value, why))
    return errors


def _nanos(text: str) -> int:
    return quantity.parse(text).nanos


def _value(text: str) -> int:
    """The amount, rounded up to a whole number."""
    return -(-_nanos(text) // _NANOS)
