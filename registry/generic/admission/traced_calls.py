"""traced_calls: calls of admission plugins that note what each plugin has decided, for the console's timeline.

A server without the console does not load this module. Must hold: a plugin that has neither changed nor refused the
object leaves no step. The plugins that call webhooks and policies note a step for each of these themselves. A large
object is not copied for each plugin; of those that change it, there is no step.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.request_steps import RequestStep, ignore_step
from aio_apiserver.registry.generic.admission.chain import Call
from aio_apiserver.registry.generic.admission.interface import Attributes

_MOST_FIELDS = 12
_LARGEST = BudgetLimits(steps=4_000, bytes_made=128 * 1024)
"""The values of an object, and the letters of its texts: more than a pod with all its fields has."""
_OF_HOOKS = ("AdmissionPolicy", "AdmissionWebhook")
"""How the names of the plugins end that call policies and webhooks."""


def traced(name: str, call: Call, clock: Clock) -> Call:
    """The call of a plugin, with a step for its decision."""
    if name.endswith(_OF_HOOKS):
        return call

    async def noted(attributes: Attributes) -> None:
        note = attributes.note_step
        if note is ignore_step:
            await call(attributes)
            return
        before = objects.clone(attributes.obj) if _is_small(attributes.obj) else None
        began = clock.monotonic()
        try:
            await call(attributes)
        except StatusError as failure:
            note(RequestStep("plugin", name, "refused", clock.monotonic() - began, failure.message))
            raise
        seconds = clock.monotonic() - began
        if before is None:
            return
        fields = tuple(islice(changed_fields(before, attributes.obj), _MOST_FIELDS))
        if fields:
            note(RequestStep("plugin", name, "changed", seconds, fields=fields))

    return noted


def _is_small(obj: Any) -> bool:
    try:
        _pay(obj, Budget(_LARGEST))
    except BudgetExceeded:
        return False
    return True


def _pay(value: Any, budget: Budget) -> None:
    """Pay for a copy of a value. Raises BudgetExceeded."""
    if isinstance(value, str):
        budget.make(len(value))
    elif isinstance(value, dict | list):
        budget.spend(len(value))
        for part in value.values() if isinstance(value, dict) else value:
            _pay(part, budget)


def changed_fields(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """The fields that differ, as `spec.tolerations`. A list is one field."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in {**before, **after}:
            yield from changed_fields(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    else:
        yield path
