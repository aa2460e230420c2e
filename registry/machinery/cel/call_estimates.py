"""Call estimates: the estimated cost and result size of a CEL function call, from the sizes of its arguments.

Pure. Must hold: the numbers are kube-apiserver's, since they decide which rules a CRD may have.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.machinery.cel.costs import (
    CHECK,
    COMPARISONS,
    LIST_COST,
    REGEX,
    SELECTOR_REQUIREMENT,
    TRAVERSAL,
)
from aio_apiserver.registry.machinery.cel.sizes import HUGE, NOTHING, ONE, UNKNOWN, EstimateRange, exactly
from aio_apiserver.registry.machinery.cel.types import Type, TypeKind

_NAME_FORMAT_PATTERN = 128


class Argument(Struct, frozen=True):
    """An argument of a call. `element`: the size of the elements of a list. `literal`: the value of a constant."""

    type: Type
    size: EstimateRange | None
    element: EstimateRange | None = None
    literal: Any = None

    @property
    def size_or_unknown(self) -> EstimateRange:
        return self.size if self.size is not None else UNKNOWN


class Estimate(Struct, frozen=True):
    """The cost of a call without its arguments, and the size of its result."""

    cost: EstimateRange
    result: EstimateRange | None = None


Estimator = Callable[[str, Argument | None, Sequence[Argument]], Estimate | None]
"""Called with overload, target and arguments; None means the default cost."""

_CHEAP = Estimate(ONE)


def _one(_overload: str, _target: Argument | None, _arguments: Sequence[Argument]) -> Estimate | None:
    return _CHEAP


def _check(_overload: str, _target: Argument | None, _arguments: Sequence[Argument]) -> Estimate | None:
    return Estimate(exactly(CHECK))


def _selector(_overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    if len(arguments) != 1:
        return None
    length = arguments[0].size_or_unknown
    requirements = length.scaled(0.5).scaled(SELECTOR_REQUIREMENT)
    return Estimate(exactly(10).plus(length.scaled(TRAVERSAL)).plus(requirements))


def _walk(_overload: str, target: Argument | None, _arguments: Sequence[Argument]) -> Estimate | None:
    if target is None:
        return None
    if not target.type.params:
        return Estimate(target.size_or_unknown.scaled(TRAVERSAL))
    cost = ONE
    if target.type.params[0].kind in (TypeKind.STRING, TypeKind.BYTES):
        cost = cost.plus((target.element or UNKNOWN).scaled(TRAVERSAL))
    return Estimate(target.size_or_unknown.times(cost))


def _of_argument(factor: float, *, keeps: bool = False) -> Estimator:
    def estimate(_overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
        if not arguments:
            return None
        size = arguments[0].size_or_unknown
        return Estimate(size.scaled(factor), size if keeps else None)

    return estimate


def _of_target(_overload: str, target: Argument | None, _arguments: Sequence[Argument]) -> Estimate | None:
    return Estimate(target.size_or_unknown.scaled(TRAVERSAL), target.size_or_unknown) if target is not None else None


def _replace(_overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    if target is None or len(arguments) < 2:
        return None
    size, old, new = target.size_or_unknown, arguments[0].size_or_unknown, arguments[1].size_or_unknown
    count_high, kept_high = _most_replaced(size.high, old.low, new.high)
    count_low, kept_low = _least_replaced(size.low, old.high, new.low)
    result = EstimateRange(count_low, count_high).times(new).plus(EstimateRange(kept_low, kept_high))
    return Estimate(size.scaled(2 * TRAVERSAL), result)


def _most_replaced(size: int, old: int, new: int) -> tuple[int, int]:
    """The number of replacements that makes the longest text, and the length that stays of the original text."""
    if old == 0:
        return min(size + 1, HUGE), size
    if new <= old:
        return 0, size
    return math.ceil(size / old), 0


def _least_replaced(size: int, old: int, new: int) -> tuple[int, int]:
    if old == 0:
        return min(size + 1, HUGE), size
    if old <= new:
        return 0, size
    return math.ceil(size / old), 0


def _split(_overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    if target is None:
        return None
    most = target.size_or_unknown.high
    if len(arguments) > 1 and isinstance(arguments[1].literal, int):
        most = arguments[1].literal % (HUGE + 1)
    return Estimate(target.size_or_unknown.scaled(2 * TRAVERSAL), EstimateRange(0, most))


def _join(_overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    if target is None:
        return None
    count = target.size_or_unknown
    size = count.times(target.element or UNKNOWN) if target.type.params else NOTHING
    if arguments:
        gaps = EstimateRange(max(count.low - 1, 0), max(count.high - 1, 0))
        size = size.plus(arguments[0].size_or_unknown.times(gaps))
    return Estimate(size.scaled(TRAVERSAL), size)


def _find(_overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    if target is None or not arguments:
        return None
    cost = target.size_or_unknown.plus(ONE).scaled(TRAVERSAL).times(arguments[0].size_or_unknown.scaled(REGEX))
    return Estimate(cost, EstimateRange(0, target.size_or_unknown.high))


def _matches(_overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    found = _find(_overload, target, arguments)
    return Estimate(found.cost) if found is not None else None


def _ip(overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    return _CHEAP if overload == "cidr_ip" else _of_argument(TRAVERSAL)(overload, target, arguments)


_ADDRESS = EstimateRange(4, 16)


def _contains_ip(overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    cost = _ADDRESS.plus(_ADDRESS).scaled(TRAVERSAL)
    if overload == "cidr_contains_ip_string":
        cost = cost.plus(arguments[0].size_or_unknown.scaled(TRAVERSAL))
    return Estimate(cost)


def _contains_cidr(overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    cost = _ADDRESS.plus(_ADDRESS).scaled(TRAVERSAL).plus(_ADDRESS.scaled(TRAVERSAL)).plus(ONE)
    if overload == "cidr_contains_cidr_string":
        cost = cost.plus(arguments[0].size_or_unknown.scaled(TRAVERSAL))
    return Estimate(cost)


def _validate(_overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    return Estimate(arguments[0].size_or_unknown.scaled(TRAVERSAL).scaled(_NAME_FORMAT_PATTERN * REGEX))


_CHEAPLY_COMPARED = frozenset({"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"})


def _equals(overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    one, other = arguments
    if one.type == other.type and one.type.name in _CHEAPLY_COMPARED:
        return _CHEAP
    return _smaller(overload, target, arguments)


def _smaller(_overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    most = min(argument.size_or_unknown.high for argument in arguments)
    return Estimate(EstimateRange(1 if most else 0, most).scaled(TRAVERSAL))


def _compare(overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    return _smaller(overload, target, arguments) if overload.endswith(("_string", "_bytes")) else _CHEAP


def _in(overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    return Estimate(arguments[1].size_or_unknown) if overload == "in_list" else _CHEAP


def _contains(_overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    if target is None:
        return None
    return Estimate(target.size_or_unknown.scaled(TRAVERSAL).times(arguments[0].size_or_unknown.scaled(TRAVERSAL)))


def _add(overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    if overload not in ("add_string", "add_bytes", "add_list"):
        return _CHEAP
    size = arguments[0].size_or_unknown.plus(arguments[1].size_or_unknown)
    return Estimate(ONE if overload == "add_list" else size.scaled(TRAVERSAL), size)


def _bytes(overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    if overload not in ("string_to_bytes", "bytes_to_string"):
        return _CHEAP
    size = arguments[0].size_or_unknown
    result = (
        EstimateRange(size.low, size.high * 4)
        if overload == "string_to_bytes"
        else EstimateRange(size.low // 4, size.high)
    )
    return Estimate(size.scaled(TRAVERSAL), result)


def _quote(_overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    size = arguments[0].size_or_unknown
    return Estimate(size.scaled(TRAVERSAL), EstimateRange(size.low + 2, size.high * 2 + 2))


def _format(_overload: str, target: Argument | None, _arguments: Sequence[Argument]) -> Estimate | None:
    return Estimate(target.size_or_unknown.scaled(TRAVERSAL)) if target is not None else None


def _allocated(factor: float, size: EstimateRange) -> Estimate:
    """The estimate of a new list of this size."""
    return Estimate(size.scaled(factor).plus(exactly(1 + LIST_COST)), size)


def _written(argument: Argument, otherwise: int) -> int:
    """The value of a literal number, at least 0; `otherwise` for other arguments."""
    return max(argument.literal, 0) if type(argument.literal) is int else otherwise


def _slice(_overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    if target is None or len(arguments) != 2:
        return None
    start, end = _written(arguments[0], 0), _written(arguments[1], target.size_or_unknown.high)
    return _allocated(1, exactly((end - start) % (HUGE + 1)))


def _flatten(_overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    if target is None:
        return None
    return _allocated(_written(arguments[0], HUGE) if arguments else 1, target.size_or_unknown)


def _range(_overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    return _allocated(1, exactly(_written(arguments[0], HUGE)))


def _reverse(_overload: str, target: Argument | None, _arguments: Sequence[Argument]) -> Estimate | None:
    return _allocated(1, target.size_or_unknown) if target is not None else None


def _distinct(_overload: str, target: Argument | None, _arguments: Sequence[Argument]) -> Estimate | None:
    return _allocated(2, target.size_or_unknown.times(target.size_or_unknown)) if target is not None else None


def _sort(overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
    """`sort` by the elements or by their keys."""
    if target is None:
        return None
    size = (arguments[0] if arguments else target).size_or_unknown
    is_text = overload.startswith(("list_string_", "list_bytes_"))
    return _allocated(COMPARISONS + TRAVERSAL * is_text, size.times(size))


def _sets(rounds: int) -> Estimator:
    """The estimate of comparing each element with each, `rounds` times."""

    def estimate(_overload: str, _target: Argument | None, arguments: Sequence[Argument]) -> Estimate | None:
        one, other = arguments
        return Estimate(one.size_or_unknown.times(other.size_or_unknown).scaled(rounds).plus(ONE))

    return estimate


_ESTIMATORS: Mapping[str, Estimator] = {
    "check": _check,
    **dict.fromkeys(("fieldSelector", "labelSelector"), _selector),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _walk),
    **dict.fromkeys(("url", "jsonpatch.escapeKey"), _of_argument(TRAVERSAL, keeps=True)),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _of_target),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("find", "findAll"), _find),
    "matches": _matches,
    **dict.fromkeys(
        ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _of_argument(TRAVERSAL)
    ),
    "ip": _ip,
    "ip.isCanonical": _of_argument(2 * TRAVERSAL),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    **dict.fromkeys(("_==_", "_!=_"), _equals),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _compare),
    "@in": _in,
    "contains": _contains,
    **dict.fromkeys(("startsWith", "endsWith"), _of_argument(TRAVERSAL)),
    "_+_": _add,
    **dict.fromkeys(("bytes", "string"), _bytes),
    "strings.quote": _quote,
    "format": _format,
    **dict.fromkeys(("sets.contains", "sets.intersects"), _sets(1)),
    "sets.equivalent": _sets(2),
    "slice": _slice,
    "flatten": _flatten,
    "lists.range": _range,
    "reverse": _reverse,
    "distinct": _distinct,
    **dict.fromkeys(("sort", "@sortByAssociatedKeys"), _sort),
}


def estimate(function: str, overload: str, target: Argument | None, arguments: Sequence[Argument]) -> Estimate:
    """The estimated cost of a call."""
    return _ESTIMATORS.get(function, _one)(overload, target, arguments) or _CHEAP
