"""Columns: the table columns of custom resources: the name, and the additionalPrinterColumns of the definition.

Pure. Must hold: a column whose path leads to no value has empty cells. The cells of a row have one budget together;
from the cell on that exceeds it, they are empty. A table has a limited number of columns.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import numbers, text
from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Version
from aio_apiserver.registry.groups.apiextensions.serving import json_paths
from aio_apiserver.registry.groups.apiextensions.serving.json_path_steps import Unevaluable
from aio_apiserver.registry.machinery.printing import ages
from aio_apiserver.registry.machinery.printing.columns import NAME, Column, Columns
from aio_apiserver.registry.machinery.schema.times import time

_AGE: Mapping[str, Any] = {
    "name": "Age",
    "type": "date",
    "description": "CreationTimestamp is a timestamp representing the server time when this object was created. "
    "It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this "
    "value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. "
    "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
    "jsonPath": ".metadata.creationTimestamp",
}
_TYPE_PATHS = (".apiVersion", ".kind", "..", ".*", ".[")
"""The beginnings of paths that may find apiVersion or kind, which hub objects do not have."""
_HTML = {char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}

ROW = BudgetLimits(steps=5_000, bytes_made=256 * 1024)
"""What the cells of a row may cost. Rows are made on the event loop, also for the clients of watches."""

_MOST = 256
"""Columns of a table besides the name. A definition can declare tens of thousands, and each server reads them all."""
_Cell = Callable[[Object, float, Budget], Any]


def of(version: Version, type_meta: Mapping[str, str]) -> Columns:
    """The columns of a version, up to the first one whose path is invalid."""
    return _table(version.facts.get("additionalPrinterColumns") or (_AGE,), type_meta)


def _table(declared: Sequence[Mapping[str, Any]], type_meta: Mapping[str, str]) -> Columns:
    columns, makers = [NAME[0]], []
    for column in declared[:_MOST]:
        try:
            makers.append(_cell(column, type_meta))
        except json_paths.InvalidJSONPath:
            break
        columns.append(_column(column))

    def cells(obj: Object, now: float) -> list[Any]:
        budget = Budget(ROW)
        return [NAME[1](obj, now), *(_value_or_nothing(make, obj, now, budget) for make in makers)]

    return Columns(columns, cells)


def _value_or_nothing(make: _Cell, obj: Object, now: float, budget: Budget) -> Any:
    try:
        return make(obj, now, budget)
    except (Unevaluable, BudgetExceeded):
        return None


def _column(declared: Mapping[str, Any]) -> Column:
    return Column(
        name=declared["name"],
        type=declared["type"],
        format=declared.get("format", ""),
        text=declared.get("description")
        or f"Custom resource definition column (in JSONPath format): {declared['jsonPath']}",
        priority=declared.get("priority", 0),
    )


def _cell(declared: Mapping[str, Any], type_meta: Mapping[str, str]) -> _Cell:
    path, of_type = json_paths.compiled(declared["jsonPath"]), declared["type"]
    sees_type = declared["jsonPath"].startswith(_TYPE_PATHS)

    def cell(obj: Object, now: float, budget: Budget) -> Any:
        values = path.find({**obj, **type_meta} if sees_type else obj, budget)
        return _cell_value(values[0], of_type, now, budget) if values else None

    return cell


def _cell_value(value: Any, of_type: str, now: float, budget: Budget) -> Any:
    match of_type:
        case "string":
            return _text(value, budget)
        case "integer":
            return numbers.int64(value) if _is_number(value) else None
        case "number":
            return value if _is_number(value) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "date":
            return _age(value, now)
        case _:
            return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any, budget: Budget) -> str:
    if value is None:
        return "<no value>"
    if not isinstance(value, dict | list):
        shown = text.value_text(value)
        budget.make(len(shown))
        return shown
    budget.make(0)
    shown = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    budget.make(len(shown))
    for char, escaped in _HTML.items():
        shown = shown.replace(char, escaped)
    return shown


def _age(value: Any, now: float) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        return ages.since(time(value), now)
    except DecodeError:
        return "<invalid>"


SCALE = _table(
    (
        {
            "name": "Desired",
            "type": "integer",
            "description": "Number of desired replicas",
            "jsonPath": ".spec.replicas",
        },
        {
            "name": "Available",
            "type": "integer",
            "description": "Number of actual replicas",
            "jsonPath": ".status.replicas",
        },
        _AGE,
    ),
    {},
)
