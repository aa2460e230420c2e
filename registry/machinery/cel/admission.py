"""The environments of admission: match conditions, and the expressions of policies.

Must hold: environments are made once for each set of variables; an expression compiles to the same here, when a policy
is created, and later, when it is asked.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, field

from aio_apiserver.registry.machinery.cel import types
from aio_apiserver.registry.machinery.cel.admission_types import (
    NAMESPACE,
    REQUEST,
    REQUEST_OBJECTS,
    VARIABLES,
    WithPatches,
)
from aio_apiserver.registry.machinery.cel.environment import Environment, Program
from aio_apiserver.registry.machinery.cel.libraries import BASE, authorization, json_patches
from aio_apiserver.registry.machinery.cel.syntax import Issue
from aio_apiserver.registry.machinery.cel.types import Type

OBJECT, OLD_OBJECT, PARAMS, REQUEST_NAME = "object", "oldObject", "params", "request"
NAMESPACE_OBJECT, AUTHORIZER, REQUEST_RESOURCE = "namespaceObject", "authorizer", "authorizer.requestResource"
VARIABLES_NAME = "variables"


class Given(Struct, frozen=True):
    """What an expression may use beyond object, oldObject, request and namespaceObject."""

    params: bool = False
    authorizer: bool = True
    patches: bool = False


@lru_cache(maxsize=16)
def environment(given: Given) -> Environment:
    """The environment without variables of a policy."""
    return _environment(given, None)


def _environment(given: Given, variables: Mapping[str, Type] | None) -> Environment:
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
        return Environment(names, WithPatches(objects), (*BASE, json_patches.LIBRARY))
    return Environment(names, objects, BASE)


class Refused(Exception):
    """An expression that cannot be used, and why; `is_internal` if it is found only when it is made ready to run."""

    def __init__(self, why: str, *, is_internal: bool = False) -> None:
        super().__init__(why)
        self.is_internal = is_internal


class Composition(Struct):
    """The expressions of one policy: variables by name, those before one can be used in it."""

    has_params: bool
    types: dict[str, Type] = field(default_factory=dict)
    _environments: dict[tuple[Given, int], Environment] = field(default_factory=dict)

    def variable(self, name: str, text: str) -> Program:
        """Compile a variable, and let later expressions use it. Raises Refused."""
        given = Given(params=self.has_params)
        # It exists whether or not it compiles: what uses it should not be blamed for that.
        try:
            program = self._compiled(text, given, ())
        except Refused:
            self.types[name] = types.DYN
            raise
        self.types[name] = program.result
        return program

    def compile(self, text: str, given: Given, wanted: Sequence[Type]) -> Program:
        """Compile another expression, which has to be of one of the types. Raises Refused."""
        return self._compiled(text, given, wanted)

    def _compiled(self, text: str, given: Given, wanted: Sequence[Type]) -> Program:
        key = (given, len(self.types))
        if key not in self._environments:
            self._environments[key] = _environment(given, dict(self.types))
        return compiled(self._environments[key], text, wanted)


def compiled(within: Environment, text: str, wanted: Sequence[Type]) -> Program:
    """Compile an expression, which has to be of one of the types if any are named. Raises Refused."""
    try:
        program = within.compile(text)
    except Issue as exc:
        raise Refused(f"compilation failed: {exc}") from exc
    if wanted and program.result not in wanted:
        names = [types.declared(one) for one in (*wanted, program.result)]
        kinds = names[0] if len(wanted) == 1 else f"one of [{' '.join(names[:-1])}]"
        raise Refused(f"must evaluate to {kinds} but got {names[-1]}")
    if wrong := program.mistake():
        raise Refused(f"program instantiation failed: {wrong}", is_internal=True)
    return program
