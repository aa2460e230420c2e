"""Amounts: quantities by resource name (cpu, memory): sums, differences, and their text in messages. Pure.

Must hold: a sum is written in the units of the first amount that is not zero.
"""

from collections.abc import Collection, Mapping

from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.quantity import Quantity, QuantityFormat

Amounts = Mapping[str, Quantity]

_NANO = -9
ZERO = quantity.parse("0")
ONE = quantity.parse("1")


def parsed(amounts: Mapping[str, str] | None) -> Amounts:
    """The amounts in an object, parsed."""
    return {name: quantity.parse(text) for name, text in (amounts or {}).items()}


def count(number: int) -> Quantity:
    """A count as an amount."""
    return Quantity(number, 0, QuantityFormat.DECIMAL)


def plus(one: Quantity, other: Quantity) -> Quantity:
    """The sum of two amounts."""
    return Quantity(one.nanos + other.nanos, _NANO, one.format if one.digits else other.format)


def added(some: Amounts, more: Amounts) -> dict[str, Quantity]:
    """The sums of two sets of amounts."""
    return {**some, **{name: plus(some[name], amount) if name in some else amount for name, amount in more.items()}}


def grown(new: Amounts, old: Amounts) -> dict[str, Quantity]:
    """The increase from the old to the new amounts; 0 where an amount decreased."""
    growth = {}
    for name, amount in new.items():
        nanos = amount.nanos - (old[name].nanos if name in old else 0)
        growth[name] = Quantity(nanos, _NANO, amount.format) if nanos > 0 else ZERO
    return growth


def reduced(some: Amounts, less: Amounts) -> dict[str, Quantity]:
    """The rest of amounts after others are taken away, at least 0."""
    left = dict(some)
    for name, amount in less.items():
        if name in left:
            nanos = left[name].nanos - amount.nanos
            left[name] = Quantity(nanos, _NANO, left[name].format) if nanos > 0 else ZERO
    return left


def text_of(amounts: Amounts, names: Collection[str]) -> str:
    """Some of the amounts as messages show them: `cpu=1,pods=2`."""
    return ",".join(f"{name}={amounts[name]}" for name in sorted(names) if name in amounts)


def texts(amounts: Amounts) -> dict[str, str]:
    """The amounts as text, for an object."""
    return {name: str(amounts[name]) for name in sorted(amounts)}
