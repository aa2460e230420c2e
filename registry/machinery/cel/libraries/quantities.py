"""Quantities: the CEL library `quantity`, for Kubernetes amounts."""

import math
from fractions import Fraction
from functools import total_ordering

from msgspec import Struct

from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.types import Type, TypeKind
from aio_apiserver.registry.machinery.cel.values import MAX_INT, MIN_INT, EvaluationError, Opaque

QUANTITY = Type(TypeKind.OBJECT, "kubernetes.Quantity")


@total_ordering
class Amount(Struct, Opaque, frozen=True, eq=False):
    """The CEL value of a quantity; compared by its numeric value."""

    worth: Fraction
    type_name = QUANTITY.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Amount) and self.worth == other.worth

    def __lt__(self, other: "Amount") -> bool:
        return self.worth < other.worth

    def __hash__(self) -> int:
        return hash(self.worth)


def parsed(text: str) -> Amount:
    """The value of a text. Raises EvaluationError."""
    try:
        found = quantity.parse(text)
    except DecodeError as exc:
        raise EvaluationError(str(exc)) from exc
    return Amount(Fraction(found.digits) * Fraction(10) ** found.scale)


def _is_quantity(text: str) -> bool:
    try:
        quantity.parse(text)
    except DecodeError:
        return False
    return True


def _is_integer(amount: Amount) -> bool:
    return amount.worth.denominator == 1 and MIN_INT <= amount.worth <= MAX_INT


def _as_integer(amount: Amount) -> int:
    if not _is_integer(amount):
        raise EvaluationError("cannot convert value to integer")
    return int(amount.worth)


def _as_float(amount: Amount) -> float:
    try:
        return float(amount.worth)
    except OverflowError:
        return math.inf if amount.worth > 0 else -math.inf


def _sign(amount: Amount) -> int:
    return (amount.worth > 0) - (amount.worth < 0)


def _compare(one: Amount, other: Amount) -> int:
    return (one.worth > other.worth) - (one.worth < other.worth)


LIBRARY = Library(
    functions(
        {
            "quantity": [("string_to_quantity", "(string) -> Quantity")],
            "isQuantity": [("is_quantity_string", "(string) -> bool")],
            "sign": [("quantity_sign", "(Quantity) -> int")],
            "isGreaterThan": [("quantity_is_greater_than", "Quantity.(Quantity) -> bool")],
            "isLessThan": [("quantity_is_less_than", "Quantity.(Quantity) -> bool")],
            "compareTo": [("quantity_compare_to", "Quantity.(Quantity) -> int")],
            "asApproximateFloat": [("quantity_get_float", "Quantity.() -> double")],
            "asInteger": [("quantity_get_int", "Quantity.() -> int")],
            "isInteger": [("quantity_is_integer", "Quantity.() -> bool")],
            "add": [
                ("quantity_add", "Quantity.(Quantity) -> Quantity"),
                ("quantity_add_int", "Quantity.(int) -> Quantity"),
            ],
            "sub": [
                ("quantity_sub", "Quantity.(Quantity) -> Quantity"),
                ("quantity_sub_int", "Quantity.(int) -> Quantity"),
            ],
        },
        {"Quantity": QUANTITY},
    ),
    {
        "string_to_quantity": parsed,
        "is_quantity_string": _is_quantity,
        "quantity_sign": _sign,
        "quantity_is_greater_than": lambda one, other: one > other,
        "quantity_is_less_than": lambda one, other: one < other,
        "quantity_compare_to": _compare,
        "quantity_get_float": _as_float,
        "quantity_get_int": _as_integer,
        "quantity_is_integer": _is_integer,
        "quantity_add": lambda one, other: Amount(one.worth + other.worth),
        "quantity_add_int": lambda one, other: Amount(one.worth + other),
        "quantity_sub": lambda one, other: Amount(one.worth - other.worth),
        "quantity_sub_int": lambda one, other: Amount(one.worth - other),
    },
)
