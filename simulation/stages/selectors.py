"""Selectors: which objects a Stage is for.

Pure. All requirements of a selector hold together. Must hold: a Stage without a selector is for no object, one with an
empty selector for all.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.stages import paths
from aio_apiserver.simulation.stages.cel import StageExpressions
from aio_apiserver.simulation.stages.unsupported import Unsupported

Matches = Callable[[Object], bool]

_OPERATORS: Mapping[str, Callable[[Sequence[str], Sequence[str]], bool]] = {
    "In": lambda found, wanted: any(one in wanted for one in found),
    "NotIn": lambda found, wanted: not any(one in wanted for one in found),
    "Exists": lambda found, _: bool(found),
    "DoesNotExist": lambda found, _: not found,
}


def parse(selector: Object | None, cel: StageExpressions) -> Matches:
    """Whether a selector is for an object. Raises Unsupported."""
    if selector is None:
        return lambda _obj: False
    known = ("matchLabels", "matchAnnotations", "matchExpressions")
    for name in selector.keys() - set(known):
        raise Unsupported(f"the selector's {name}")
    requirements = [_requirement(one, cel) for one in selector.get("matchExpressions") or ()]
    equal = {
        "labels": dict(selector.get("matchLabels") or {}),
        "annotations": dict(selector.get("matchAnnotations") or {}),
    }

    def matches(obj: Object) -> bool:
        return all(_has(obj, part, texts) for part, texts in equal.items()) and all(one(obj) for one in requirements)

    return matches


def _has(obj: Object, part: str, texts: Mapping[str, str]) -> bool:
    present = obj["metadata"].get(part) or {}
    return all(present.get(name) == text for name, text in texts.items())


def _requirement(given: Object, cel: StageExpressions) -> Matches:
    if "cel" in given:
        value = cel.parse(given["cel"])
        return lambda obj: value(obj) is True
    one = given.get("jq") or given
    path, operator, values = paths.parse(one.get("key", "")), one.get("operator", ""), list(one.get("values") or ())
    test = _OPERATORS.get(operator)
    if test is None:
        raise Unsupported(f"the operator {operator!r}")
    return lambda obj: test([_text(value) for value in path(obj)], values)


def _text(value: Any) -> str:
    """How values of a requirement name a value."""
    return str(value).lower() if isinstance(value, bool) else str(value)
