"""Match conditions: the expressions under which a policy or a webhook counts at all.

Must hold: one that is false counts before all that fail; what cannot be evaluated counts as failures do.
"""

from collections.abc import Sequence

from aio_apiserver.registry.base.errors import aggregate
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionRecorder
from aio_apiserver.registry.plugins.admission.policies.evaluation import (
    CONDITIONS_BUDGET,
    Answers,
    Expression,
    Inputs,
    OutOfBudget,
)


class Undetermined(Exception):
    """Conditions that could not be evaluated, and why."""


async def hold(
    conditions: Sequence[Expression],
    seen: Inputs,
    answers: Answers,
    *,
    ignores_failures: bool,
    recorder: ConditionRecorder,
) -> bool:
    """Whether all hold; where failures are ignored, those that fail do not. Raises Undetermined."""
    if not conditions:
        return True
    began, is_held = recorder.clock.monotonic(), False
    try:
        is_held = await answers.decided(lambda: _evaluate(conditions, seen, recorder))
    except Undetermined:
        if not ignores_failures:
            raise
    finally:
        if not is_held:
            recorder.ended(began)
    return is_held


def _evaluate(conditions: Sequence[Expression], seen: Inputs, recorder: ConditionRecorder) -> bool:
    evaluation = seen.evaluation(CONDITIONS_BUDGET)
    try:
        outcomes = [evaluation.outcome(expression) for expression in conditions]
    except OutOfBudget as exc:
        raise Undetermined(str(exc)) from exc
    failures = [outcome.failure for outcome in outcomes if outcome.failure]
    recorder.failed(len(failures))
    if any(outcome.value is False for outcome in outcomes):
        return False
    if failures:
        raise Undetermined(aggregate(failures))
    return True
