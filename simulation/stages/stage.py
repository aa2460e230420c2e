"""Stage: a Stage object as rules: for which objects it is, when it acts, and what it does.

Pure. A Stage with a part that is not supported or malformed raises Unsupported as a whole.
"""

from collections.abc import Iterable

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.stages import amounts, selectors, steps
from aio_apiserver.simulation.stages.amounts import Delay, Weight
from aio_apiserver.simulation.stages.cel import Random, StageExpressions
from aio_apiserver.simulation.stages.selectors import Matches
from aio_apiserver.simulation.stages.steps import Step
from aio_apiserver.simulation.stages.unsupported import Unsupported

POD, NODE = ("v1", "Pod"), ("v1", "Node")
VOLUME, CLAIM = ("v1", "PersistentVolume"), ("v1", "PersistentVolumeClaim")
_KNOWN = frozenset(("resourceRef", "selector", "weight", "weightFrom", "delay", "next", "steps", "immediateNextStage"))
Staged = tuple[str, str]
"""The API version and the kind of objects."""
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError)
"""What reading raises for a Stage that does not have the form of kwok's schema. The server does not bring that."""


class StageRules(Struct, frozen=True):
    """The rules of one Stage object."""

    source: Object
    target: Staged
    matches: Matches
    delay: Delay
    weight: Weight
    steps: tuple[Step, ...]


def target(source: Object) -> Staged:
    """The objects that a Stage is for."""
    reference = source["spec"]["resourceRef"]
    return str(reference.get("apiGroup") or "v1"), str(reference["kind"])


def parse(source: Object, cel: StageExpressions) -> StageRules:
    """The rules of a Stage object. Raises Unsupported."""
    try:
        return _rules(source, cel)
    except _MALFORMED as exc:
        raise Unsupported(f"the malformed part {type(exc).__name__}: {exc}") from exc


def _rules(source: Object, cel: StageExpressions) -> StageRules:
    spec = source["spec"]
    for name in spec.keys() - _KNOWN:
        raise Unsupported(f"{name} in a Stage")
    return StageRules(
        source,
        target(source),
        selectors.parse(spec.get("selector"), cel),
        amounts.delay(spec.get("delay"), cel),
        amounts.weight(spec, cel),
        steps.parse(spec),
    )


def choose(stages: Iterable[StageRules], obj: Object, random: Random) -> StageRules | None:
    """The Stage that acts next on an object; None without one."""
    return amounts.choose([(one, one.weight(obj)) for one in stages if one.matches(obj)], random)
