"""Device expressions: compiles the CEL selectors for devices, limits their cost, and evaluates them. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.text_caches import remember_short
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.expressions.libraries import BASE
from aio_apiserver.registry.machinery.cel import estimates, types
from aio_apiserver.registry.machinery.cel.environment import CelEnvironment, Program
from aio_apiserver.registry.machinery.cel.estimates import Path
from aio_apiserver.registry.machinery.cel.libraries import quantities, semver
from aio_apiserver.registry.machinery.cel.schema_types import Declared
from aio_apiserver.registry.machinery.cel.sizes import EstimateRange
from aio_apiserver.registry.machinery.cel.syntax import Issue
from aio_apiserver.registry.machinery.cel.values import CostExceeded, EvaluationError

_MOST_COST = 1_000_000
_MOST_ATTRIBUTES = 32
_DEVICE = "device"

_ATTRIBUTE = Declared(types.ANY, 1, 64)
"""A bool, an int, a string or a version."""
_DOMAIN = Declared(types.STRING, 2, 63)
_ID = Declared(types.STRING, 2, 32)
_DRIVER = Declared(types.STRING, 2, 63)


def _map(key: Declared, element: Declared) -> Declared:
    return Declared(types.map_of(key.type, element.type), 2, _MOST_ATTRIBUTES, element=element, key=key)


_TYPE = Declared(
    types.object_named("kubernetes.DRADevice"),
    2,
    fields={
        "driver": _DRIVER,
        "attributes": _map(_DOMAIN, _map(_ID, _ATTRIBUTE)),
        "capacity": _map(_DOMAIN, _map(_ID, Declared(quantities.QUANTITY, 8))),
        "allowMultipleAllocations": Declared(types.BOOL, 4, 1),
    },
)
_ENVIRONMENT = CelEnvironment({_DEVICE: _TYPE.type}, _TYPE.objects(), BASE, has_bindings=True)


def validate(expression: str, path: str) -> list[FieldError]:
    """The errors of an expression."""
    try:
        program = _ENVIRONMENT.compile(expression)
    except Issue as exc:
        return [field.invalid(path, expression, f"compilation failed: {exc}")]
    if program.result not in (types.BOOL, types.ANY):
        why = f"must evaluate to bool or the unknown type, not {types.declared(program.result)}"
        return [field.invalid(path, expression, why)]
    if wrong := program.mistake():
        return [field.invalid(path, expression, f"program instantiation failed: {wrong}")]
    if estimates.most(program.checked, _size_of) > _MOST_COST:
        return [field.forbidden(path, "too complex, exceeds cost limit")]
    return []


def _size_of(path: Path) -> EstimateRange | None:
    """The estimated size of a value. All attributes have the same size."""
    if path[0] != _DEVICE:
        return None
    here = _TYPE
    for step in path[1:]:
        part = here.part(step) or (_ATTRIBUTE if here.element is _ATTRIBUTE else None)
        if part is None:
            return None
        here = part
    return EstimateRange(0, here.largest)


@remember_short(256, longest=1024)
def _program(expression: str) -> Program:
    return _ENVIRONMENT.compile(expression)


def selects(expression: str, driver: str, device: Mapping[str, Any]) -> bool:
    """Whether an expression selects a device of a driver. An expression that fails selects nothing."""
    try:
        value, _ = _program(expression).evaluate({_DEVICE: _value(driver, device)})
    except (Issue, EvaluationError, CostExceeded):
        return False
    return value is True


def _value(driver: str, device: Mapping[str, Any]) -> Mapping[str, Any]:
    """A device as expressions see it. Names without a domain belong to the driver."""
    attributes: dict[str, dict[str, Any]] = {}
    capacity: dict[str, dict[str, Any]] = {}
    for name, given in (device.get("attributes") or {}).items():
        domain, identifier = _split(name, driver)
        attributes.setdefault(domain, {})[identifier] = _attribute(given)
    for name, given in (device.get("capacity") or {}).items():
        domain, identifier = _split(name, driver)
        capacity.setdefault(domain, {})[identifier] = quantities.parsed(given["value"])
    several = bool(device.get("allowMultipleAllocations"))
    return {"driver": driver, "attributes": attributes, "capacity": capacity, "allowMultipleAllocations": several}


def _split(name: str, driver: str) -> tuple[str, str]:
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _attribute(given: Mapping[str, Any]) -> Any:
    kind, value = next(iter(given.items()))
    return semver.parsed(value) if kind == "version" else value
