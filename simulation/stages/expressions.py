"""expressions: CEL expressions of Stages, which see the object as `self`.

Pure. Must hold: an expression that fails for an object has no value.
"""

from typing import Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.machinery.cel import types
from aio_apiserver.registry.machinery.cel.environment import CelEnvironment
from aio_apiserver.registry.machinery.cel.libraries import PURE
from aio_apiserver.registry.machinery.cel.syntax import Issue
from aio_apiserver.registry.machinery.cel.values import CostExceeded, Duration, EvaluationError
from aio_apiserver.simulation.stages import stage_functions
from aio_apiserver.simulation.stages.cel import Expression, Random
from aio_apiserver.simulation.stages.unsupported import Unsupported

_SELF = "self"


def environment(clock: Clock, random: Random) -> CelEnvironment:
    """The variable, and the functions of admission policies and of kwok."""
    libraries = (*PURE, stage_functions.library(clock, random))
    return CelEnvironment({_SELF: types.map_of(types.STRING, types.DYN)}, {}, libraries)


def parse(known: CelEnvironment, text: str) -> Expression:
    """An expression. Raises Unsupported."""
    try:
        program = known.compile(text)
    except Issue as exc:
        raise Unsupported(f"the CEL expression {text!r}: {exc}") from exc
    if wrong := program.mistake():
        raise Unsupported(f"the CEL expression {text!r}: {wrong}")

    def value(obj: Object) -> Any:
        try:
            found, _ = program.evaluate({_SELF: obj})
        except (EvaluationError, CostExceeded):
            return None
        return found.nanoseconds if isinstance(found, Duration) else found

    return value
