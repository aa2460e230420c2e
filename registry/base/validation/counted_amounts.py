"""Counted amounts: Quantity.Value() and MilliValue() of Go, with their rounding and their overflow in 64 bits.

Rounds up, in most cases. Larger values lose their highest bits: `9223372036854775808` becomes negative.

Pure. Must hold: the rules that use it upstream call Value() or MilliValue(). All other comparisons are exact.
"""

from aio_apiserver.registry.base.golang.quantity import MILLI, NANO, Quantity

_HIGHEST = 2**63 - 1
_SINGLE_STEPS = frozenset({1, 2, 3, 6, 9})
"""Powers of ten that Go multiplies in one step. For others Go multiplies step by step, and an overflow gives 0."""


def value(amount: Quantity) -> int:
    """Quantity.Value(): whole units."""
    return _scaled(amount, 0)


def milli_value(amount: Quantity) -> int:
    """Quantity.MilliValue(): thousandths."""
    return _scaled(amount, MILLI)


def _scaled(amount: Quantity, scale: int) -> int:
    if amount.is_big:
        return _big_divided(amount.nanos, scale - NANO)
    steps = amount.scale - scale
    if steps < 0:
        return _rounded_away(amount.digits, -steps)
    product: int = amount.digits * 10**steps
    return _wrapped(product) if steps in _SINGLE_STEPS or _wrapped(product) == product else 0


def _big_divided(digits: int, steps: int) -> int:
    """Division of a large value: first it loses its highest bits, then any rest rounds up, also below zero."""
    divisor: int = 10**steps
    if digits < _HIGHEST:
        narrow = _wrapped(digits)
        whole = abs(narrow) // divisor * (-1 if narrow < 0 else 1)
        return whole + 1 if narrow % divisor else whole
    return _wrapped(-(-digits // divisor))


def _rounded_away(digits: int, steps: int) -> int:
    divisor: int = 10**steps
    return -(-digits // divisor) if digits > 0 else digits // divisor


def _wrapped(number: int) -> int:
    return (number + _HIGHEST + 1) % 2**64 - _HIGHEST - 1
