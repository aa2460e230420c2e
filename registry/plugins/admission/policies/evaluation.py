"""Evaluation: the expressions of a policy, on one write.

Must hold: variables of a policy are computed once, when something uses them, and at its expense; all expressions of a
policy together cost no more than the budget.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct, field

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.authorizer import Authorizer as Access
from aio_apiserver.registry.generic.access.authorizer import Decision
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.expressions import admission
from aio_apiserver.registry.generic.expressions.authorization import AuthorizerValue, Question, ResourceCheck, Undecided
from aio_apiserver.registry.machinery.cel.environment import CALL_LIMIT, Program
from aio_apiserver.registry.machinery.cel.values import CostExceeded, EvaluationError
from aio_apiserver.storage.stored_object import Object

BUDGET = 10_000_000
CONDITIONS_BUDGET = 2_500_000
_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"

T = TypeVar("T")


class OutOfBudget(Exception):
    """Nothing more is evaluated."""


class Expression(Struct, frozen=True):
    """An expression of a policy. `mistake` is why it has no program."""

    text: str
    program: Program | None = None
    mistake: str = ""


class Outcome(Struct, frozen=True):
    """What an expression has computed, or why it could not."""

    value: Any = None
    failure: str = ""


class Inputs(Struct):
    """What the expressions of a policy see of a write. `variables` are the policy's own."""

    seen: Mapping[str, Any]
    variables: Mapping[str, Expression] = field(default_factory=dict)

    def evaluation(self, budget: int = BUDGET) -> "Evaluation":
        """A beginning with a budget."""
        return Evaluation(self, budget)


class Evaluation:
    """A series of expressions that share a budget, and what the policy's variables turn out to be."""

    def __init__(self, inputs: Inputs, budget: int) -> None:
        self.budget = budget
        self._seen = {**inputs.seen, admission.VARIABLES_NAME: _Variables(inputs.variables, self)}
        self._spent_on_variables = 0

    def outcome(self, expression: Expression) -> Outcome:
        """Compute an expression. Raises OutOfBudget, Undecided."""
        if expression.program is None:
            return Outcome(failure=f"compilation error: {expression.mistake}")
        try:
            value, cost = expression.program.evaluate(self._seen)
        except (EvaluationError, CostExceeded) as exc:
            self._charge(CALL_LIMIT if isinstance(exc, CostExceeded) else 0)
            return Outcome(failure=f"expression '{expression.text}' resulted in error: {exc}")
        self._charge(cost)
        return Outcome(value)

    def variable(self, name: str, expression: Expression) -> Any:
        """Compute a variable of the policy. Raises EvaluationError."""
        if expression.program is None:
            raise EvaluationError(f"composited variable {quote(name)} fails to compile: {expression.mistake}")
        try:
            value, cost = expression.program.evaluate(self._seen)
        except (EvaluationError, CostExceeded) as exc:
            raise EvaluationError(f"composited variable {quote(name)} fails to evaluate: {exc}") from exc
        self._spent_on_variables += cost
        return value

    def _charge(self, cost: int) -> None:
        cost += self._spent_on_variables
        self._spent_on_variables = 0
        if cost > self.budget:
            raise OutOfBudget(_OUT_OF_BUDGET)
        self.budget -= cost


class _Variables(dict[str, Any]):
    """The variables of a policy by name, each computed when it is first asked for."""

    def __init__(self, expressions: Mapping[str, Expression], evaluation: Evaluation) -> None:
        super().__init__()
        self._expressions = expressions
        self._evaluation = evaluation

    def __missing__(self, name: str) -> Any:
        value = self._evaluation.variable(name, self._expressions[name])
        self[name] = value
        return value

    def __contains__(self, name: object) -> bool:
        return name in self._expressions

    def __iter__(self) -> Iterator[str]:
        return iter(self._expressions)


class Answers:
    """What is known of what users may do, for one write."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._known: dict[tuple[object, ...], Decision] = {}

    def __call__(self, question: Question) -> Decision:
        """The answer. Raises Undecided."""
        try:
            return self._known[question.key]
        except KeyError:
            raise Undecided(question) from None

    async def decided(self, work: Callable[[], T]) -> T:
        """The result of some work, which is begun again whenever an answer was missing."""
        while True:
            try:
                return work()
            except Undecided as exc:
                self._known[exc.question.key] = await self._access.authorize(exc.question.limited())

    def variables(self, attributes: Attributes) -> dict[str, Any]:
        """What expressions ask with."""
        authorizer = AuthorizerValue(attributes.user, self)
        check = ResourceCheck(
            authorizer=authorizer,
            group=attributes.resource.group,
            resource=attributes.resource.resource,
            subresource=attributes.subresource,
            namespace=attributes.namespace,
            name=attributes.name,
        )
        return {admission.AUTHORIZER: authorizer, admission.REQUEST_RESOURCE: check}


def inputs(
    *,
    obj: Object | None,
    old: Object | None,
    request: Object,
    namespace: Object | None,
    params: Object | None,
    access: Mapping[str, Any],
    variables: Mapping[str, Expression],
) -> Inputs:
    """What is seen of a write; objects are typed, in the version that was matched."""
    seen = {
        admission.OBJECT: obj,
        admission.OLD_OBJECT: old,
        admission.REQUEST_NAME: request,
        admission.NAMESPACE_OBJECT: namespace,
        admission.PARAMS: params,
        **access,
    }
    return Inputs(seen, variables)
