"""Overloads that are missing when an expression is evaluated: what Go's evaluation says of it.

Pure. Operators are bound to traits of their first operand: what has the trait refuses the other operand in its own
words, what has it not is refused with the operator's name. Functions are told with the types of all arguments.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.golang.text import value_text
from aio_apiserver.registry.machinery.cel.values import EvaluationError, kind_of

_TIMES = frozenset({"google.protobuf.Timestamp", "google.protobuf.Duration"})
_NUMBERS = frozenset({"int", "uint", "double"})
_TEXTS = frozenset({"string", "bytes"})
_RECEIVERS = _TIMES | {"string"}
"""They answer for themselves to whatever they are asked."""
_COMPARED = _NUMBERS | _TEXTS | _TIMES | {"bool"}
_WITH_TRAIT: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _COMPARED),
    "_+_": _NUMBERS | _TEXTS | _TIMES | {"list"},
    "_-_": _NUMBERS | _TIMES,
    "_*_": _NUMBERS,
    "_/_": _NUMBERS,
    "_%_": frozenset({"int", "uint"}),
    "-_": frozenset({"bool", "int", "double", "google.protobuf.Duration"}),
    "size": _TEXTS | {"list", "map"},
    "sort": frozenset({"list"}),
}
_UNNAMED = frozenset({"!_", "@in", "contains", "endsWith", "find", "matches", "startsWith"})
"""They look at their arguments themselves."""
_INDEX = "_[_]"
_FLATTEN = "flatten"
_GO_TYPES = {
    "null_type": "types.Null",
    "google.protobuf.Timestamp": "types.Timestamp",
    "google.protobuf.Duration": "types.Duration",
    "optional_type": "*types.Optional",
    "type": "*types.Type",
    **{kind: f"types.{kind.capitalize()}" for kind in ("bool", "int", "uint", "double", "string", "bytes")},
    **{f"kubernetes.{kind}": f"cel.{kind}" for kind in ("Quantity", "Semver", "URL")},
    **{f"net.{kind}": f"cel.{kind}" for kind in ("IP", "CIDR")},
}


def missing(name: str, arguments: Sequence[Any]) -> EvaluationError:
    """The error of a call for which there is no overload."""
    kinds = [kind_of(argument) for argument in arguments]
    if name == _INDEX:
        return no_such_key(arguments[1])
    if name in _UNNAMED:
        return EvaluationError("no such overload")
    if name == _FLATTEN:
        kind = "map(dyn, dyn)" if kinds[0] == "map" else kinds[0]
        return EvaluationError(f"no such overload: {kind}.{name}({', '.join(kinds[1:])})")
    traits = _WITH_TRAIT.get(name)
    if traits is None:
        return EvaluationError(f"no such overload: {name}({', '.join(kinds)})")
    is_told = kinds[0] not in traits | _RECEIVERS
    return EvaluationError(f"no such overload: {name}" if is_told else "no such overload")


def no_such_key(key: Any) -> EvaluationError:
    """The error of what does not hold a key, or nothing at all."""
    return EvaluationError(f"no such key: {value_text(key)}")


def no_such_index(kind: str) -> EvaluationError:
    """The error of a list that is asked for something by another thing than a number."""
    return EvaluationError(f"unsupported index type '{kind}' in list")


def no_range(value: Any, *, has_second: bool) -> EvaluationError:
    """The error of what is gone through but has no parts, with one variable or with two."""
    kind = kind_of(value)
    go_type = _GO_TYPES.get(kind, kind)
    if has_second:
        return EvaluationError(f"unsupported comprehension range type: {go_type}")
    return EvaluationError(f"got '{go_type}', expected iterable type")
