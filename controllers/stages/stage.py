"""Stage: a Stage object as rules: for which objects it is, when it acts, and what it does.

Pure. A Stage with a part that is not supported raises Unsupported as a whole.
"""

from collections.abc import Iterable

from msgspec import Struct

from aio_apiserver.controllers.stages import amounts, selectors, steps
from aio_apiserver.controllers.stages.amounts import Delay, Random, Weight
from aio_apiserver.controllers.stages.selectors import Matches
from aio_apiserver.controllers.stages.steps import Step
from aio_apiserver.controllers.stages.unsupported import Unsupported
from aio_apiserver.storage.stored_object import Object

POD, NODE = ("v1", "Pod"), ("v1", "Node")
_KNOWN = frozenset(("resourceRef", "selector", "weight", "weightFrom", "delay", "next", "steps", "immediateNextStage"))
Staged = tuple[str, str]
"""The API version and the kind of objects."""


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
    return reference.get("apiGroup") or "v1", reference["kind"]


def parse(source: Object) -> StageRules:
    """The rules of a Stage object. Raises Unsupported."""
    spec = source["spec"]
    for name in spec.keys() - _KNOWN:
        raise Unsupported(f"{name} in a Stage")
    return StageRules(
        source,
        target(source),
        selectors.parse(spec.get("selector")),
        amounts.delay(spec.get("delay")),
        amounts.weight(spec),
        steps.parse(spec),
    )


def choose(stages: Iterable[StageRules], obj: Object, random: Random) -> StageRules | None:
    """The Stage that acts next on an object; None without one."""
    return amounts.choose([(one, one.weight(obj)) for one in stages if one.matches(obj)], random)
