"""Compiled: policies and bindings as read from their objects, with compiled expressions. Each is read once a revision.

Pure. Must hold: an expression that does not compile is kept with its error. It fails when it is evaluated, and then
failurePolicy counts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.expressions import admission_types
from aio_apiserver.registry.generic.expressions.admission import Composition, Given, UnusableExpression
from aio_apiserver.registry.machinery.cel import types
from aio_apiserver.registry.machinery.cel.types import Type
from aio_apiserver.registry.plugins.admission.matching import Criteria, criteria_of_resources
from aio_apiserver.registry.plugins.admission.policies.evaluation import Expression

Part = Mapping[str, Any]


class Validation(Struct, frozen=True):
    """A validation of a policy: the condition, and the message for a violation."""

    condition: Expression
    message_expression: Expression | None
    message: str
    reason: str


class Mutation(Struct, frozen=True):
    """A mutation of a policy: the expression that makes a patch."""

    kind: str
    expression: Expression


class AdmissionPolicy(Struct, frozen=True, kw_only=True):
    """A policy of either kind. `conditions` are its matchConditions by name, in order."""

    name: str
    criteria: Criteria
    ignores_failures: bool
    param_kind: Part | None
    conditions: Sequence[tuple[str, Expression]]
    variables: Mapping[str, Expression]
    validations: Sequence[Validation] = ()
    annotations: Sequence[tuple[str, Expression]] = ()
    mutations: Sequence[Mutation] = ()
    is_reinvoked: bool = False


class PolicyBinding(Struct, frozen=True, kw_only=True):
    """A binding of a policy. Without criteria it applies to all that the policy matches."""

    name: str
    policy: str
    criteria: Criteria | None
    param_ref: Part | None
    actions: Sequence[str] = ()


def policy(obj: Object) -> AdmissionPolicy:
    """Read a policy."""
    metadata, spec = obj["metadata"], obj["spec"]
    param_kind = spec.get("paramKind")
    expressions = _Expressions(Composition(param_kind is not None), spec.get("variables") or ())
    match = spec.get("matchConstraints") or {}
    return AdmissionPolicy(
        name=metadata["name"],
        criteria=criteria_of_resources(match),
        ignores_failures=spec.get("failurePolicy") == "Ignore",
        param_kind=param_kind,
        conditions=[
            (one.get("name", ""), expressions.condition(one.get("expression", "")))
            for one in spec.get("matchConditions") or ()
        ],
        variables=expressions.variables,
        validations=[expressions.validation(one) for one in spec.get("validations") or ()],
        annotations=[
            (one.get("key", ""), expressions.annotation(one.get("valueExpression", "")))
            for one in spec.get("auditAnnotations") or ()
        ],
        mutations=[expressions.mutation(one) for one in spec.get("mutations") or ()],
        is_reinvoked=spec.get("reinvocationPolicy") == "IfNeeded",
    )


def binding(obj: Object) -> PolicyBinding:
    """Read a binding."""
    spec = obj["spec"]
    match = spec.get("matchResources")
    return PolicyBinding(
        name=obj["metadata"]["name"],
        policy=spec.get("policyName", ""),
        criteria=criteria_of_resources(match) if match is not None else None,
        param_ref=spec.get("paramRef"),
        actions=spec.get("validationActions") or (),
    )


class _Expressions:
    """Compiles the expressions of one policy."""

    def __init__(self, composition: Composition, variables: Sequence[Part]) -> None:
        self._composition = composition
        self.variables: dict[str, Expression] = {}
        for one in variables:
            self.variables[one["name"]] = self._variable(one["name"], one.get("expression", ""))

    def condition(self, text: str) -> Expression:
        return self._compiled(text, (types.BOOL,))

    def annotation(self, text: str) -> Expression:
        return self._compiled(text, (types.STRING, types.NULL))

    def validation(self, given: Part) -> Validation:
        message = given.get("messageExpression") or ""
        return Validation(
            condition=self._compiled(given.get("expression", ""), (types.BOOL,)),
            message_expression=self._compiled(message, (types.STRING,), has_authorizer=False) if message else None,
            message=(given.get("message") or "").strip(),
            reason=given.get("reason") or "Invalid",
        )

    def mutation(self, given: Part) -> Mutation:
        kind = given.get("patchType", "")
        name, wanted = _PATCHES[kind]
        text = (given.get(name) or {}).get("expression", "").strip()
        return Mutation(kind, self._compiled(text, (wanted,), has_patches=True))

    def _variable(self, name: str, text: str) -> Expression:
        try:
            return Expression(text, self._composition.variable(name, text))
        except UnusableExpression as exc:
            return Expression(text, mistake=str(exc))

    def _compiled(
        self, text: str, wanted: Sequence[Type], *, has_authorizer: bool = True, has_patches: bool = False
    ) -> Expression:
        given = Given(params=self._composition.has_params, authorizer=has_authorizer, patches=has_patches)
        try:
            return Expression(text, self._composition.compile(text, given, wanted))
        except UnusableExpression as exc:
            return Expression(text, mistake=str(exc))


APPLY, JSON = "ApplyConfiguration", "JSONPatch"
_PATCHES = {
    APPLY: ("applyConfiguration", admission_types.OBJECT),
    JSON: ("jsonPatch", types.list_of(admission_types.JSON_PATCH)),
}
