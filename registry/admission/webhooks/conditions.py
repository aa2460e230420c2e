"""Conditions: the expressions under which a webhook is called at all.

Must hold: one that is false counts before all that fail; what cannot be evaluated counts as the webhook's failures do.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from registry.access.authorizer import Authorizer
from registry.admission import requests
from registry.admission.forms import Form
from registry.admission.interface import Attributes
from registry.admission.policies.evaluation import (
    CONDITIONS_BUDGET,
    Answers,
    Expression,
    Inputs,
    OutOfBudget,
    inputs,
)
from registry.admission.webhooks.shown import Shown
from registry.cel import admission, types
from registry.cel.admission import Given, Refused
from registry.errors import Forbidden, aggregate


class _Failed(Exception):
    """Conditions that could not be evaluated, and why."""


class Conditions:
    """Those of one webhook."""

    def __init__(self, stated: Sequence[Mapping[str, Any]], *, ignores_failures: bool) -> None:
        self._expressions = [_compiled(one.get("expression") or "") for one in stated]
        self._ignores_failures = ignores_failures

    async def hold(self, attributes: Attributes, own: Form, shown: Shown, access: Authorizer) -> bool:
        """Whether all hold for a write that was made in its own form and is shown in another. Raises Forbidden."""
        answers = Answers(access)
        seen = inputs(
            obj=shown.obj,
            old=shown.old,
            request=requests.request(attributes, own, shown.form),
            namespace=None,
            params=None,
            access=answers.variables(attributes),
            variables={},
        )
        try:
            return await answers.decided(lambda: self._evaluate(seen))
        except (OutOfBudget, _Failed) as exc:
            if self._ignores_failures:
                return False
            raise Forbidden(attributes.resource, attributes.name, why=str(exc)) from exc

    def _evaluate(self, seen: Inputs) -> bool:
        evaluation = seen.evaluation(CONDITIONS_BUDGET)
        outcomes = [evaluation.outcome(expression) for expression in self._expressions]
        if any(outcome.value is False for outcome in outcomes):
            return False
        failures = [outcome.failure for outcome in outcomes if outcome.failure]
        if failures:
            raise _Failed(aggregate(failures))
        return True


def _compiled(text: str) -> Expression:
    try:
        return Expression(text, admission.compiled(admission.environment(Given()), text, (types.BOOL,)))
    except Refused as exc:
        return Expression(text, mistake=str(exc))
