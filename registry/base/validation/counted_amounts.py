"""Amounts as kube-apiserver counts them where it does not need them exactly: in 64 bits, in whole units or thousandths.

Pure. What is finer is rounded up, as a rule; what is too large loses its highest bits: `9223372036854775808` is less
than nothing, and some whole numbers beyond are no whole numbers. Must hold: the rules that ask it are those that say so
upstream; all other comparisons are exact.
"""

from aio_apiserver.registry.base.golang.quantity import MILLI, NANO, Quantity

_HIGHEST = 2**63 - 1
_SINGLE_STEPS = frozenset({1, 2, 3, 6, 9})
"""Powers of ten by which it multiplies at once; by others step by step, where what becomes too large is nothing."""


def value(amount: Quantity) -> int:
    """Whole units."""
    return _scaled(amount, 0)


def milli_value(amount: Quantity) -> int:
    """Thousandths."""
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
    """What is below zero is rounded up as if it were above, and loses its highest bits before."""
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
