"""Numbers: validates numbers against OpenAPI schemas: range, bounds, multipleOf.

For whole numbers the bounds are truncated to whole numbers, as kube-apiserver does.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from aio_apiserver.registry.base.golang import text
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.validation.result import Result

if TYPE_CHECKING:
    from aio_apiserver.registry.machinery.schema.validation.values import ValueValidation

Number = int | float

_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)
_LARGEST_FLOAT32 = 3.4028234663852886e38
_LARGEST_WHOLE = float(2**53 - 1)
_EPSILON = 1e-9

_FORMATS: Mapping[str, frozenset[str]] = {
    "integer": frozenset({"int32", "int64"}),
    "number": frozenset({"float", "double"}),
}


def check(validation: "ValueValidation", result: Result, value: Number, schema: Schema, name: str) -> None:
    """Add the errors of a number."""
    of_type, form = _type_and_format(schema)

    def fits(number: Number, what: str) -> bool:
        if _is_in_range(number, of_type, form):
            return True
        detail = f"with format {form}" if form else "(default format)"
        validation.general(result, f"{what} value must be of type {of_type} {detail} in {name}")
        return False

    if of_type:
        fits(value, "Checked")
    factor, lowest, highest = schema.get("multipleOf"), schema.get("minimum"), schema.get("maximum")
    if factor is not None:
        _check_factor(validation, result, value, _settled(factor, value, fits(factor, "MultipleOf")), name)
    if lowest is not None:
        bound = _settled(lowest, value, fits(lowest, "Minimum boundary"))
        if wrong := _beyond(value < bound, value == bound, bool(schema.get("exclusiveMinimum")), "greater"):
            validation.invalid(result, name, value, f"{wrong} {_text(bound)}")
    if highest is not None:
        bound = _settled(highest, value, fits(highest, "Maximum boundary"))
        if wrong := _beyond(value > bound, value == bound, bool(schema.get("exclusiveMaximum")), "less"):
            validation.invalid(result, name, value, f"{wrong} {_text(bound)}")


def _type_and_format(schema: Schema) -> tuple[str, str]:
    """The numeric type and format by which a number has a range; empty when it has none."""
    of_type = schema.get("type") or ""
    if of_type not in _FORMATS or schema.get("x-kubernetes-int-or-string"):
        return "", ""
    form = schema.get("format") or ""
    return of_type, form if form in _FORMATS[of_type] else ""


def _beyond(is_past: bool, is_equal: bool, is_exclusive: bool, than: str) -> str:
    """What is wrong with a number that is past its bound, or equal to an exclusive one; empty when it is within."""
    if is_past or (is_exclusive and is_equal):
        return f"should be {than} than" if is_exclusive else f"should be {than} than or equal to"
    return ""


def _is_in_range(number: Number, of_type: str, form: str) -> bool:
    if of_type == "integer":
        return number == math.floor(number) and int(number) in (_INT32 if form == "int32" else _INT64)
    return form != "float" or abs(number) <= _LARGEST_FLOAT32


def _settled(bound: Number, value: Number, is_fitting: bool) -> Number:
    """A bound in the type of the comparison."""
    return int(bound) if isinstance(value, int) and is_fitting else float(bound)


def _check_factor(validation: "ValueValidation", result: Result, value: Number, factor: Number, name: str) -> None:
    if factor <= 0:
        message = f"factor MultipleOf declared for {name} must be positive: {_text(factor)}"
        validation.stated(result, name, factor, message)
        return
    if isinstance(factor, int) and isinstance(value, int):
        is_multiple = value % factor == 0
    else:
        quotient = 1 / factor * value if factor < 1 else value / factor
        is_multiple = _is_whole(quotient)
    if not is_multiple:
        validation.invalid(result, name, value, f"should be a multiple of {_text(factor)}")


def _is_whole(number: float) -> bool:
    """Whether a number is whole within the precision of floats."""
    if not math.isfinite(number) or abs(number) > _LARGEST_WHOLE:
        return False
    whole = float(math.trunc(number))
    difference = abs(number - whole)
    if number == whole:
        return True
    if number == 0 or whole == 0 or difference < 5e-324:
        return difference < _EPSILON * 5e-324
    return difference / (abs(number) + abs(whole)) < _EPSILON


def _text(number: Number) -> str:
    """A bound as Go prints it."""
    return str(number) if isinstance(number, int) else text.float_text(number)
