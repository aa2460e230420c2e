"""Evaluation: evaluates the CEL expressions of a policy for one write, within a cost budget.

An evaluation begins on the event loop. When it costs more than some milliseconds, it goes on in the worker thread.

Must hold: a variable of a policy is computed once, at its first use, and its cost counts. All expressions of a policy
together stay within the cost budget, and within what the server lets their functions do and make.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from msgspec import Struct, field

from aio_apiserver.base import worker_thread
from aio_apiserver.base.budget import SLICE, Budget, BudgetLimits
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.worker_thread import TakesLong
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.authorizer import Authorizer as Access
from aio_apiserver.registry.generic.access.authorizer import Decision
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.expressions import admission
from aio_apiserver.registry.generic.expressions.authorization import AuthorizerValue, Question, ResourceCheck, Undecided
from aio_apiserver.registry.machinery.cel.environment import CALL_LIMIT, Program
from aio_apiserver.registry.machinery.cel.values import CostExceeded, EvaluationError

BUDGET = 10_000_000
CONDITIONS_BUDGET = 2_500_000
_SHORT_COST = 20_000
"""The cost of an evaluation on the event loop: some ten milliseconds."""
_LIMITS = BudgetLimits(steps=10_000_000, bytes_made=64 * 1024 * 1024)
"""What the functions of all expressions of a policy may do and make."""
_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


class OutOfBudget(Exception):
    """The cost budget is used up. No further expression is evaluated."""


class Expression(Struct, frozen=True):
    """An expression of a policy. `mistake` is the error of an expression that does not compile."""

    text: str
    program: Program | None = None
    mistake: str = ""


class ExpressionOutcome(Struct, frozen=True):
    """The value of an expression, or the reason why it failed."""

    value: Any = None
    failure: str = ""


class Inputs(Struct):
    """The variables for the expressions of a policy. `variables` are the policy's own."""

    seen: Mapping[str, Any]
    variables: Mapping[str, Expression] = field(default_factory=dict)

    def evaluation(self, budget: int = BUDGET) -> "Evaluation":
        """An evaluation with a budget of its own."""
        return Evaluation(self, budget)


class Evaluation:
    """Evaluates expressions that share a budget and the values of the policy's variables."""

    def __init__(self, inputs: Inputs, budget: int) -> None:
        self.budget = budget
        self.may_take_long = False
        """Whether expressions are evaluated in the worker thread."""
        self._short_cost, self._short_work = _SHORT_COST, Budget(SLICE)
        self._work = Budget(_LIMITS)
        self._seen = {**inputs.seen, admission.VARIABLES_NAME: _Variables(inputs.variables, self)}
        self._spent_on_variables = 0

    def outcome(self, expression: Expression) -> ExpressionOutcome:
        """Evaluate an expression. Raises OutOfBudget, Undecided and, on the event loop, TakesLong."""
        if expression.program is None:
            return ExpressionOutcome(failure=f"compilation error: {expression.mistake}")
        try:
            value, cost = self._evaluated(expression.program)
        except (EvaluationError, CostExceeded) as exc:
            self._charge(_cost_of(exc))
            return ExpressionOutcome(failure=f"expression '{expression.text}' resulted in error: {exc}")
        self._charge(cost)
        return ExpressionOutcome(value)

    def variable(self, name: str, expression: Expression) -> Any:
        """Evaluate a variable of the policy. Raises EvaluationError."""
        if expression.program is None:
            raise EvaluationError(f"composited variable {quote(name)} fails to compile: {expression.mistake}")
        try:
            value, cost = self._evaluated(expression.program)
        except (EvaluationError, CostExceeded) as exc:
            self._spent_on_variables += _cost_of(exc)
            raise EvaluationError(f"composited variable {quote(name)} fails to evaluate: {exc}") from exc
        self._spent_on_variables += cost
        return value

    def _evaluated(self, program: Program) -> tuple[Any, int]:
        """The value and its cost. Raises EvaluationError, CostExceeded, Undecided, TakesLong."""
        if self.may_take_long:
            return program.evaluate(self._seen, budget=self._work)
        try:
            value, cost = program.evaluate(self._seen, limit=self._short_cost, budget=self._short_work)
        except CostExceeded:
            raise TakesLong from None
        except EvaluationError as failure:
            self._short_cost -= failure.cost
            raise
        self._short_cost -= cost
        return value, cost

    def _charge(self, cost: int) -> None:
        cost += self._spent_on_variables
        self._spent_on_variables = 0
        if cost > self.budget:
            raise OutOfBudget(_OUT_OF_BUDGET)
        self.budget -= cost


def _cost_of(failure: EvaluationError | CostExceeded) -> int:
    """What a failed evaluation has cost."""
    return CALL_LIMIT if isinstance(failure, CostExceeded) else failure.cost


class _Variables(dict[str, Any]):
    """The variables of a policy by name, each computed at its first use."""

    def __init__(self, expressions: Mapping[str, Expression], evaluation: Evaluation) -> None:
        super().__init__()
        self._expressions = expressions
        self._evaluation = evaluation
        self._failures: dict[str, EvaluationError] = {}

    def __missing__(self, name: str) -> Any:
        if name in self._failures:
            raise self._failures[name].with_traceback(None)  # without the frames of its earlier uses
        try:
            value = self._evaluation.variable(name, self._expressions[name])
        except EvaluationError as failure:
            self._failures[name] = failure
            raise
        self[name] = value
        return value

    def __contains__(self, name: object) -> bool:
        return name in self._expressions

    def __iter__(self) -> Iterator[str]:
        return iter(self._expressions)


class Decisions:
    """The authorizer's decisions for one write, as CEL expressions ask for them.

    Expressions cannot wait: a missing decision stops the evaluation, and `outcome` gets it and starts again.
    """

    def __init__(self, access: Access, user: str) -> None:
        self._access = access
        self._user = user
        self._known: dict[tuple[object, ...], Decision] = {}

    def __call__(self, question: Question) -> Decision:
        """The decision on a question. Raises Undecided."""
        try:
            return self._known[question.key]
        except KeyError:
            raise Undecided(question) from None

    async def outcome(self, evaluation: Evaluation, expression: Expression) -> ExpressionOutcome:
        """Evaluate an expression, again after each missing decision. Raises OutOfBudget."""
        while True:
            try:
                if not evaluation.may_take_long:
                    return evaluation.outcome(expression)
                return await worker_thread.run(partial(evaluation.outcome, expression), self._user)
            except TakesLong:
                evaluation.may_take_long = True
            except Undecided as exc:
                self._known[exc.question.key] = await self._access.authorize(exc.question.limited())

    def variables(self, attributes: Attributes) -> dict[str, Any]:
        """The CEL variables `authorizer` and `authorizer.requestResource`."""
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
    """The CEL variables for a write. Objects are typed, in the version that was matched."""
    seen = {
        admission.OBJECT: obj,
        admission.OLD_OBJECT: old,
        admission.REQUEST_NAME: request,
        admission.NAMESPACE_OBJECT: namespace,
        admission.PARAMS: params,
        **access,
    }
    return Inputs(seen, variables)
