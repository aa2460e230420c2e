"""Patches: applies the JSON patches and apply configurations that CEL expressions make.

Must hold: the object that is passed in does not change. A patch consists of JSON values before it is applied; a CEL
value that contains the same list many times becomes JSON within a budget.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.machinery.cel import times
from aio_apiserver.registry.machinery.cel.program import ObjectValue
from aio_apiserver.registry.machinery.cel.values import Duration, Optional, Timestamp, TypeName, UInt
from aio_apiserver.registry.machinery.patch import json_patch
from aio_apiserver.registry.machinery.patch.apply import checks, merge
from aio_apiserver.registry.machinery.patch.apply.shapes import DEDUCED, Lists, Maps, Scalar, Shape, Shapes
from aio_apiserver.registry.machinery.patch.json_patch import Inapplicable, TestFailed
from aio_apiserver.registry.machinery.schema import Catalog, DecodeError, UnknownKind, depth
from aio_apiserver.registry.plugins.admission.policies.compiled import JSON

_LIMITS = BudgetLimits(steps=depth.MOST_VALUES, bytes_made=3 * 1024 * 1024)
"""What a patch may consist of: as much as the body of a request."""


class Unpatchable(Exception):
    """A patch that cannot be applied, and why."""


class Merger:
    """Applies patches. The shape of a type is compiled when the first apply configuration is merged."""

    def __init__(self, types: Catalog) -> None:
        self._types = types
        self._shapes = Shapes()

    def patched(self, kind: str, form: AdmissionForm, obj: Object, patch: Any) -> Object:
        """The object with the patch. Raises Unpatchable."""
        try:
            patched = _json_patched(obj, patch) if kind == JSON else self._merged(form, obj, patch)
            depth.check(patched)
        except DecodeError as exc:
            raise Unpatchable(f"error applying patch: {exc.message}") from None
        except (RecursionError, orjson.JSONEncodeError):
            raise Unpatchable(f"error applying patch: {TOO_DEEP}") from None
        except BudgetExceeded as exc:
            raise Unpatchable(f"error applying patch: it has {exc}") from exc
        return patched

    def _merged(self, form: AdmissionForm, obj: Object, patch: Any) -> Object:
        _check_types(patch, "Object")
        config = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], **_plain(patch, Budget(_LIMITS))}
        shape = self._shape(form)
        wrong = checks.misfits(shape, config)
        if wrong:
            raise Unpatchable(
                f"error applying patch: failed to convert patch object to typed object: {checks.summary(wrong)}"
            )
        atomic = list(_atomics(shape, config, ""))
        if atomic:
            what = f"may not mutate atomic arrays, maps or structs: {', '.join(atomic)}"
            raise Unpatchable(f"error applying patch: invalid ApplyConfiguration: {what}")
        merged = merge.merged(shape, obj, config)
        return objects.clone(merged)

    def _shape(self, form: AdmissionForm) -> Shape:
        kind = form.kind
        try:
            return self._shapes.of(self._types.type_for(kind.group, kind.version, kind.kind).node)
        except UnknownKind:
            return DEDUCED


def _json_patched(obj: Object, operations: Any) -> Object:
    try:
        budget = Budget(_LIMITS)
        patched: Object = json_patch.applied(objects.clone(obj), [_operation(one, budget) for one in operations])
    except TestFailed:
        return obj
    except Inapplicable as exc:
        raise Unpatchable(f"JSON Patch: {exc.why}") from exc
    return patched


def _operation(value: Object, budget: Budget) -> Object:
    operation = {"op": value.get("op", ""), "path": value.get("path", "")}
    if value.get("from"):
        operation["from"] = value["from"]
    if "value" in value:
        if isinstance(value["value"], ObjectValue):
            _check_types(value["value"], value["value"].type_name)
        operation["value"] = _plain(value["value"], budget)
    return operation


def _check_types(value: Any, expected: str) -> None:
    """Check that typed objects have the type name of the field that they are assigned to. Raises Unpatchable."""
    if isinstance(value, ObjectValue):
        if value.type_name != expected:
            raise Unpatchable(
                f"type mismatch: unexpected type name {_quoted(value.type_name)}, expected {_quoted(expected)}, "
                "which matches field name path from root Object type"
            )
        for name, member in value.items():
            _check_types(member, f"{expected}.{name}")
    elif isinstance(value, list):
        for element in value:
            _check_types(element, expected)


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def _plain(value: Any, budget: Budget) -> Any:
    """A CEL value as JSON. Raises Unpatchable, BudgetExceeded."""
    budget.spend()
    match value:
        case dict():
            return {str(name): _plain(member, budget) for name, member in value.items() if not _is_missing(member)}
        case list():
            return [_plain(element, budget) for element in value]
        case UInt():
            return int(value)
        case Timestamp():
            return times.timestamp_text(value)
        case Duration():
            return times.duration_text(value)
        case Optional():
            return _plain(value.value, budget)
        case TypeName():
            return value.name
        case str():
            budget.make(len(value))
            return value
        case None | bool() | int() | float():
            return value
    raise Unpatchable("JSONPath valueExpression evaluated to a type that could not marshal to JSON")


def _is_missing(value: Any) -> bool:
    return isinstance(value, Optional) and not value.has_value


def _atomics(shape: Shape, value: Any, path: str) -> Iterator[str]:
    """The paths of atomic maps, lists and structs in an apply configuration."""
    part = shape.part(value)
    if isinstance(part, Scalar):
        return
    if isinstance(part, Maps) and isinstance(value, dict):
        if part.is_atomic:
            yield path
        for name, member in value.items():
            known = part.fields.get(name)
            if known is not None:
                yield from _atomics(known, member, f"{path}.{name}")
    elif isinstance(part, Lists) and isinstance(value, list):
        if part.is_atomic:
            yield path
        for index, element in enumerate(value):
            yield from _atomics(part.items, element, f"{path}[{index}]")
