"""Match conditions: the CEL expressions that must hold before a policy or webhook is used.

Must hold: a condition that is false wins over conditions that fail. Else a failing condition counts as failurePolicy
says.
"""

from collections.abc import Sequence

from aio_apiserver.registry.base.errors import aggregate
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionRecorder
from aio_apiserver.registry.plugins.admission.policies.evaluation import (
    CONDITIONS_BUDGET,
    Decisions,
    Expression,
    Inputs,
    OutOfBudget,
)


class Undetermined(Exception):
    """Match conditions could not be evaluated, and failurePolicy is Fail."""


async def hold(
    conditions: Sequence[Expression],
    seen: Inputs,
    answers: Decisions,
    *,
    ignores_failures: bool,
    recorder: ConditionRecorder,
) -> bool:
    """Whether all conditions hold. With `ignores_failures` a failing condition does not hold. Raises Undetermined."""
    if not conditions:
        return True
    began, is_held = recorder.clock.monotonic(), False
    try:
        is_held = await _evaluate(conditions, seen, answers, recorder)
    except Undetermined:
        if not ignores_failures:
            raise
    finally:
        if not is_held:
            recorder.ended(began)
    return is_held


async def _evaluate(
    conditions: Sequence[Expression], seen: Inputs, answers: Decisions, recorder: ConditionRecorder
) -> bool:
    evaluation = seen.evaluation(CONDITIONS_BUDGET)
    try:
        outcomes = [await answers.outcome(evaluation, expression) for expression in conditions]
    except OutOfBudget as exc:
        raise Undetermined(str(exc)) from exc
    failures = [outcome.failure for outcome in outcomes if outcome.failure]
    recorder.failed(len(failures))
    if any(outcome.value is False for outcome in outcomes):
        return False
    if failures:
        raise Undetermined(aggregate(failures))
    return True
