"""redaction: takes secret values out of the parts of one report, within one budget.

Short parts are searched on the event loop, long ones in the worker thread. Must hold: a part that was not searched is
not in the report. The report says how many parts it lacks.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from aio_apiserver.apiserver.console.reports.secret_texts import SecretTexts
from aio_apiserver.base import budget
from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.base.yielding import in_turns

WITHHELD = "(withheld: it takes too long to look for secret values here)"
LIMITS = BudgetLimits(steps=20_000_000, bytes_made=0)
"""For one report: some ten seconds of the worker thread."""


class Redaction:
    """The redaction of one report. secrets: None when there are too many to look for."""

    def __init__(self, secrets: SecretTexts | None, user: str, limits: BudgetLimits = LIMITS) -> None:
        self.withheld = 0
        """The parts that were not searched."""
        self._secrets = secrets
        self._user = user
        self._steps_left = limits.steps if secrets is not None else 0

    async def text(self, text: str) -> str:
        """The text without secret values, or a word that it is withheld."""
        parts = await self.each([text])
        return str(parts[0]) if parts else WITHHELD

    async def each(self, parts: Iterable[Any]) -> list[Any]:
        """The parts without secret values, in their order, up to the one for which no time is left."""
        searched: list[Any] = []
        async for part in in_turns(parts):
            try:
                searched.append(await self._searched(part))
            except BudgetExceeded:
                self.withheld += 1
        return searched

    async def _searched(self, part: Any) -> Any:
        """One part without secret values. Raises BudgetExceeded, for all later parts too."""
        secrets, left = self._secrets, BudgetLimits(steps=self._steps_left, bytes_made=0)
        if secrets is None or left.steps <= 0:
            raise BudgetExceeded("steps", left.steps)
        self._steps_left = 0
        value, spent = await budget.within(left, partial(_without, secrets, part), self._user)
        self._steps_left = left.steps - spent
        return value


def _without(secrets: SecretTexts, part: Any, account: Budget) -> tuple[Any, int]:
    return secrets.without(part, account), account.steps_spent
