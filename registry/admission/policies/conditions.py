"""Match conditions: the expressions under which a policy or a webhook counts at all.

Must hold: one that is false counts before all that fail; what cannot be evaluated counts as failures do.
"""

from collections.abc import Sequence

from registry.admission.policies.evaluation import CONDITIONS_BUDGET, Answers, Expression, Inputs, OutOfBudget
from registry.errors import aggregate


class Undetermined(Exception):
    """Conditions that could not be evaluated, and why."""


async def hold(conditions: Sequence[Expression], seen: Inputs, answers: Answers, *, ignores_failures: bool) -> bool:
    """Whether all hold; where failures are ignored, those that fail do not. Raises Undetermined."""
    if not conditions:
        return True
    try:
        return await answers.decided(lambda: _evaluate(conditions, seen))
    except Undetermined:
        if ignores_failures:
            return False
        raise


def _evaluate(conditions: Sequence[Expression], seen: Inputs) -> bool:
    evaluation = seen.evaluation(CONDITIONS_BUDGET)
    try:
        outcomes = [evaluation.outcome(expression) for expression in conditions]
    except OutOfBudget as exc:
        raise Undetermined(str(exc)) from exc
    if any(outcome.value is False for outcome in outcomes):
        return False
    failures = [outcome.failure for outcome in outcomes if outcome.failure]
    if failures:
        raise Undetermined(aggregate(failures))
    return True
