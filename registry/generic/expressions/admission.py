"""Admission: the CEL environments of match conditions and of admission policies.

Must hold: there is one environment for each set of variables. An expression compiles to the same program when its
policy is created and when the policy is evaluated.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, field

from aio_apiserver.registry.generic.expressions import authorization
from aio_apiserver.registry.generic.expressions.admission_types import (
    NAMESPACE,
    REQUEST,
    REQUEST_OBJECTS,
    VARIABLES,
    WithPatches,
)
from aio_apiserver.registry.generic.expressions.libraries import BASE
from aio_apiserver.registry.machinery.cel import types
from aio_apiserver.registry.machinery.cel.environment import CelEnvironment, Program
from aio_apiserver.registry.machinery.cel.libraries import json_patches
from aio_apiserver.registry.machinery.cel.syntax import Issue
from aio_apiserver.registry.machinery.cel.types import Type

OBJECT, OLD_OBJECT, PARAMS, REQUEST_NAME = "object", "oldObject", "params", "request"
NAMESPACE_OBJECT, AUTHORIZER, REQUEST_RESOURCE = "namespaceObject", "authorizer", "authorizer.requestResource"
VARIABLES_NAME = "variables"


class Given(Struct, frozen=True):
    """The optional variables of an expression, beyond object, oldObject, request and namespaceObject."""

    params: bool = False
    authorizer: bool = True
    patches: bool = False


@lru_cache(maxsize=16)
def environment(given: Given) -> CelEnvironment:
    """The environment of an expression without policy variables."""
    return _environment(given, None)


def _environment(given: Given, variables: Mapping[str, Type] | None) -> CelEnvironment:
    names = {OBJECT: types.DYN, OLD_OBJECT: types.DYN, NAMESPACE_OBJECT: NAMESPACE, REQUEST_NAME: REQUEST}
    if given.params:
        names[PARAMS] = types.DYN
    if given.authorizer:
        names |= {AUTHORIZER: authorization.AUTHORIZER, REQUEST_RESOURCE: authorization.RESOURCE_CHECK}
    objects = dict(REQUEST_OBJECTS)
    if variables is not None:
        names[VARIABLES_NAME] = VARIABLES
        objects[VARIABLES.name] = variables
    if given.patches:
        return CelEnvironment(names, WithPatches(objects), (*BASE, json_patches.LIBRARY))
    return CelEnvironment(names, objects, BASE)


class UnusableExpression(Exception):
    """An expression that cannot be used. `is_internal`: it compiled, and failed when it was prepared for evaluation."""

    def __init__(self, why: str, *, is_internal: bool = False) -> None:
        super().__init__(why)
        self.is_internal = is_internal


class Composition(Struct):
    """The expressions of one policy. A variable can be used by the expressions compiled after it."""

    has_params: bool
    types: dict[str, Type] = field(default_factory=dict)
    _environments: dict[tuple[Given, int], CelEnvironment] = field(default_factory=dict)

    def variable(self, name: str, text: str) -> Program:
        """Compile a variable and declare it for later expressions. Raises UnusableExpression."""
        given = Given(params=self.has_params)
        # A variable that does not compile is declared too, so that expressions which use it get no second error.
        try:
            program = self._compiled(text, given, ())
        except UnusableExpression:
            self.types[name] = types.DYN
            raise
        self.types[name] = program.result
        return program

    def compile(self, text: str, given: Given, wanted: Sequence[Type]) -> Program:
        """Compile another expression, whose type must be one of `wanted`. Raises UnusableExpression."""
        return self._compiled(text, given, wanted)

    def _compiled(self, text: str, given: Given, wanted: Sequence[Type]) -> Program:
        key = (given, len(self.types))
        if key not in self._environments:
            self._environments[key] = _environment(given, dict(self.types))
        return compiled(self._environments[key], text, wanted)


def compiled(within: CelEnvironment, text: str, wanted: Sequence[Type]) -> Program:
    """Compile an expression, whose type must be one of `wanted` when types are given. Raises UnusableExpression."""
    try:
        program = within.compile(text)
    except Issue as exc:
        raise UnusableExpression(f"compilation failed: {exc}") from exc
    if wanted and program.result not in wanted:
        names = [types.declared(one) for one in (*wanted, program.result)]
        kinds = names[0] if len(wanted) == 1 else f"one of [{' '.join(names[:-1])}]"
        raise UnusableExpression(f"must evaluate to {kinds} but got {names[-1]}")
    if wrong := program.mistake():
        raise UnusableExpression(f"program instantiation failed: {wrong}", is_internal=True)
    return program
