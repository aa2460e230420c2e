"""Costs: the run-time cost of a CEL function call. The numbers are kube-apiserver's.

Pure. Must hold: a failing call costs the same as a successful one, as far as its arguments tell.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.machinery.cel.values import share, size_of

TRAVERSAL = 0.1
"""Cost of each character read."""
REGEX = 0.25
"""Cost of each character of a pattern."""
CHECK = 350_000
"""Cost of an authorization check; an expression can afford two."""
SELECTOR_REQUIREMENT = 50
LIST_COST, MAP_COST, OBJECT_COST = 10, 30, 40
"""Cost of creating one."""
COMPARISONS = 2
"""Cost of each comparison when a list is sorted or searched for duplicates."""

_BEYOND_LIMITS = 1_000_000

CostOfCall = Callable[[str, Sequence[Any], Any], int]
"""Called with overload, arguments and result; the result is None after a failure."""


def _one(_overload: str, _arguments: Sequence[Any], _result: Any) -> int:
    return 1


def _check(_overload: str, _arguments: Sequence[Any], _result: Any) -> int:
    return CHECK


def _selector(_overload: str, arguments: Sequence[Any], _result: Any) -> int:
    length = size_of(arguments[1])
    return 10 + share(length, TRAVERSAL) + share(share(length, 0.5), SELECTOR_REQUIREMENT)


def _walk(_overload: str, arguments: Sequence[Any], _result: Any) -> int:
    return traversal(arguments[0]) if arguments else 0


def traversal(value: Any) -> int:
    """The cost of walking through a value to its last part; of a larger cost than any limit, a part of it.

    A list can contain the same large list a thousand times.
    """
    cost, visits, waiting = 0, 0, [value]
    while waiting and cost <= _BEYOND_LIMITS:
        part = waiting.pop()
        visits += 1
        if visits > _BEYOND_LIMITS:
            return visits
        if isinstance(part, (str, bytes)):
            length = len(part.encode()) if isinstance(part, str) else len(part)
            cost += int(length * TRAVERSAL)
        elif isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, dict):
            waiting.extend(part)
            waiting.extend(part.values())
        else:
            cost += 1
    return cost


def _once(_overload: str, arguments: Sequence[Any], _result: Any) -> int:
    return share(size_of(arguments[0]), TRAVERSAL) if arguments else 1


def _twice(_overload: str, arguments: Sequence[Any], _result: Any) -> int:
    return share(size_of(arguments[0]), 2 * TRAVERSAL)


def _twice_the_result(_overload: str, _arguments: Sequence[Any], result: Any) -> int:
    return share(size_of(result), 2 * TRAVERSAL)


def _regex(_overload: str, arguments: Sequence[Any], _result: Any) -> int:
    return share(1 + size_of(arguments[0]), TRAVERSAL) * share(size_of(arguments[1]), REGEX)


def _ip(overload: str, arguments: Sequence[Any], result: Any) -> int:
    return 1 if overload == "cidr_ip" else _once(overload, arguments, result)


def _contains_ip(overload: str, arguments: Sequence[Any], _result: Any) -> int:
    cost = share(2 * size_of(arguments[0]), TRAVERSAL)
    return cost + (share(size_of(arguments[1]), TRAVERSAL) if overload == "cidr_contains_ip_string" else 0)


def _contains_cidr(overload: str, arguments: Sequence[Any], _result: Any) -> int:
    size = size_of(arguments[0])
    cost = share(2 * size, TRAVERSAL) + share(size, TRAVERSAL) + 1
    return cost + (share(size_of(arguments[1]), TRAVERSAL) if overload == "cidr_contains_cidr_string" else 0)


def _validate(_overload: str, arguments: Sequence[Any], _result: Any) -> int:
    pattern: int = getattr(arguments[0], "regex_size", 0)
    return share(1 + size_of(arguments[1]), TRAVERSAL) * share(pattern, REGEX)


def _first(_overload: str, arguments: Sequence[Any], _result: Any) -> int:
    return share(size_of(arguments[0]), TRAVERSAL)


def _in(overload: str, arguments: Sequence[Any], _result: Any) -> int:
    return size_of(arguments[1]) if overload == "in_list" else 1


def _smaller(_overload: str, arguments: Sequence[Any], _result: Any) -> int:
    return share(min(map(size_of, arguments)), TRAVERSAL)


def _compare(overload: str, arguments: Sequence[Any], result: Any) -> int:
    return _smaller(overload, arguments, result) if overload.endswith(("_string", "_bytes")) else 1


def _equals(overload: str, arguments: Sequence[Any], result: Any) -> int:
    return 1 if getattr(arguments[0], "type_name", "") else _smaller(overload, arguments, result)


def _add(overload: str, arguments: Sequence[Any], _result: Any) -> int:
    if overload in ("add_string", "add_bytes"):
        return share(sum(map(size_of, arguments)), TRAVERSAL)
    return 1


def _contains(_overload: str, arguments: Sequence[Any], _result: Any) -> int:
    return share(size_of(arguments[0]), TRAVERSAL) * share(size_of(arguments[1]), TRAVERSAL)


def _bytes_of_string(overload: str, arguments: Sequence[Any], result: Any) -> int:
    return _first(overload, arguments, result) if overload in ("string_to_bytes", "bytes_to_string") else 1


def _allocated(factor: float, size: int) -> int:
    """The cost of a new list of this size."""
    return int(size * factor) + 1 + LIST_COST


def _new_list(_overload: str, _arguments: Sequence[Any], result: Any) -> int:
    return _allocated(1, size_of(result))


def _flatten(_overload: str, arguments: Sequence[Any], _result: Any) -> int:
    return _allocated(arguments[1] if len(arguments) == 2 else 1, size_of(arguments[0]))


def _compared(_overload: str, arguments: Sequence[Any], _result: Any) -> int:
    """The cost of comparing each element with each, or each key with each."""
    keys = arguments[-1]
    is_text = bool(keys) and isinstance(keys[0], (str, bytes))
    return _allocated(COMPARISONS + TRAVERSAL * is_text, size_of(keys) ** 2)


def _sets(rounds: int) -> CostOfCall:
    return lambda _overload, arguments, _result: 1 + size_of(arguments[0]) * size_of(arguments[1]) * rounds


OF_RESULT = frozenset({_twice_the_result, _new_list})
"""The costs that need the result. All others are known before the call."""
_COSTS: Mapping[str, CostOfCall] = {
    "check": _check,
    **dict.fromkeys(("fieldSelector", "labelSelector"), _selector),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _walk),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim", "jsonpatch.escapeKey"), _once),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _once),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _twice),
    "join": _twice_the_result,
    **dict.fromkeys(("find", "findAll", "matches"), _regex),
    "ip": _ip,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
    **dict.fromkeys(("startsWith", "endsWith", "strings.quote", "format"), _first),
    **dict.fromkeys(("bytes", "string"), _bytes_of_string),
    "@in": _in,
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _compare),
    **dict.fromkeys(("_==_", "_!=_"), _equals),
    "_+_": _add,
    "contains": _contains,
    **dict.fromkeys(("sets.contains", "sets.intersects"), _sets(1)),
    "sets.equivalent": _sets(2),
    **dict.fromkeys(("slice", "lists.range", "reverse"), _new_list),
    "flatten": _flatten,
    **dict.fromkeys(("distinct", "sort", "@sortByAssociatedKeys"), _compared),
}


def cost_of_call(function: str) -> CostOfCall:
    """The cost function for calls of a function."""
    return _COSTS.get(function, _one)
