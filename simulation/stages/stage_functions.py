"""Stage functions: kwok's own functions for the CEL of Stages: Now, Rand, SinceSecond, UnixSecond and Quantity.

Pure, but for the clock and the random numbers that the caller gives. Quantities have the operators that kwok's have.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.machinery.cel import times
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.libraries import quantities
from aio_apiserver.registry.machinery.cel.libraries.quantities import QUANTITY, Amount
from aio_apiserver.registry.machinery.cel.values import EvaluationError, Timestamp
from aio_apiserver.simulation.stages.cel import Random

_NANOSECONDS = 10**9
_OBJECT = "map(string, dyn)"
_NUMBERS = ("int", "uint", "double")
_ORDER: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "_<_": ("less", lambda one, other: one < other),
    "_<=_": ("less_equals", lambda one, other: one <= other),
    "_>_": ("greater", lambda one, other: one > other),
    "_>=_": ("greater_equals", lambda one, other: one >= other),
}


def library(clock: Clock, random: Random) -> Library:
    """The functions of one server."""

    def since(obj: Any) -> float:
        return clock.now() - _created(obj).nanoseconds / _NANOSECONDS

    table = {
        "Now": [("now", "() -> timestamp")],
        "Rand": [("rand", "() -> double")],
        "SinceSecond": [("since_object", f"({_OBJECT}) -> double"), ("object_since", f"{_OBJECT}.() -> double")],
        "UnixSecond": list(_for_times("unix")),
        "Quantity": [("stage_quantity", "(string) -> Quantity")],
        "double": [("quantity_to_double", "(Quantity) -> double")],
        "_+_": [("add_quantity", "(Quantity, Quantity) -> Quantity")],
        "_-_": [("subtract_quantity", "(Quantity, Quantity) -> Quantity")],
        "-_": [("negate_quantity", "(Quantity) -> Quantity")],
        "_*_": [(f"multiply_quantity_{kind}", f"(Quantity, {kind}) -> Quantity") for kind in _NUMBERS],
        "_/_": [(f"divide_quantity_{kind}", f"(Quantity, {kind}) -> Quantity") for kind in _NUMBERS],
        **{sign: [(f"{word}_quantity", "(Quantity, Quantity) -> bool")] for sign, (word, _) in _ORDER.items()},
    }
    return Library(
        functions(table, {"Quantity": QUANTITY}),
        {
            "now": lambda: Timestamp(int(clock.now() * _NANOSECONDS)),
            "rand": random,
            "since_object": since,
            "object_since": since,
            **dict.fromkeys((identity for identity, _ in _for_times("unix")), _unix),
            "stage_quantity": quantities.parsed,
            "quantity_to_double": lambda amount: float(amount.worth),
            "add_quantity": lambda one, other: Amount(one.worth + other.worth),
            "subtract_quantity": lambda one, other: Amount(one.worth - other.worth),
            "negate_quantity": lambda amount: Amount(-amount.worth),
            **{f"multiply_quantity_{kind}": _times for kind in _NUMBERS},
            **{f"divide_quantity_{kind}": _divided for kind in _NUMBERS},
            **{f"{word}_quantity": test for word, test in _ORDER.values()},
        },
    )


def _for_times(name: str) -> Iterator[tuple[str, str]]:
    """The overloads for a time, which is a text in objects."""
    for kind in ("timestamp", "string"):
        yield f"{name}_{kind}", f"({kind}) -> double"
        yield f"{kind}_{name}", f"{kind}.() -> double"


def _unix(given: Timestamp | str) -> float:
    return (_moment(given) if isinstance(given, str) else given).nanoseconds / _NANOSECONDS


def _created(obj: Any) -> Timestamp:
    try:
        return _moment(obj["metadata"]["creationTimestamp"])
    except (KeyError, TypeError) as exc:
        raise EvaluationError("the object has no creation time") from exc


def _moment(text: str) -> Timestamp:
    found = times.parse_timestamp(text)
    if found is None:
        raise EvaluationError(f"{text} is no time")
    return found


def _times(amount: Amount, number: float) -> Amount:
    return Amount(amount.worth * _exact(number))


def _divided(amount: Amount, number: float) -> Amount:
    if not number:
        raise EvaluationError("division by zero")
    return Amount(amount.worth / _exact(number))


def _exact(number: float) -> Fraction:
    try:
        return Fraction(number)
    except (ValueError, OverflowError) as exc:
        raise EvaluationError(f"{number} is no amount") from exc
