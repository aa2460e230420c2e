"""stored_secrets: reads the values that Secrets have, and those that the watch window still has of earlier states.

Must hold: each Secret is read in the worker thread, when it is large. The values together are bounded by bytes.
"""

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import orjson

from aio_apiserver.apiserver.console.reports.secret_texts import SecretValues
from aio_apiserver.apiserver.console.timeline.history import ServerHistory
from aio_apiserver.base import budget
from aio_apiserver.base.budget import Budget, BudgetLimits
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.factory.readable_pages import place_of

LIMITS = BudgetLimits(steps=0, bytes_made=64 * 1024 * 1024)
"""For all values: some 120,000 usual ones, each of which is looked for in base64 and as it is."""
_OF_SECRET = BudgetLimits(steps=0, bytes_made=32 * 1024 * 1024)
_FORMS = 5
"""The memory that the forms of a Secret take, at most, as a multiple of its size."""


async def secret_values(
    history: ServerHistory, further: Iterable[str], unreadable: set[str], user: str
) -> SecretValues:
    """The values, with further ones. `unreadable` gets the Secrets that cannot be read. Raises BudgetExceeded."""
    values, left = SecretValues(), Budget(LIMITS)
    lost: set[str] = set()
    for value in further:
        values.add(value, left)
    async for page in history.secrets(lost):
        async for stored in in_turns(page):
            try:
                data = stored.json
            except Corrupt as exc:
                lost.add(place_of(exc))
                continue
            forms = await budget.within(_OF_SECRET, partial(_values_in, data), user)
            async for value in in_turns(forms):
                values.add(value, left)
    unreadable.update(f"secrets {place}" for place in lost)
    return values


def _values_in(data: bytes, account: Budget) -> list[str]:
    """The values of a Secret in all their forms. Raises BudgetExceeded."""
    account.make(len(data) * _FORMS)
    secret: Mapping[str, str] = orjson.loads(data).get("data") or {}
    return [form for value in secret.values() for form in _forms(value)]


def _forms(encoded: str) -> Iterator[str]:
    """A value in base64, as it is, and as JSON writes it: a key in PEM has several lines. A difference writes a JSON
    text within a value as JSON again.
    """
    yield encoded
    try:
        plain = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        return
    once = orjson.dumps(plain).decode()[1:-1]
    yield plain
    yield once
    yield orjson.dumps(once).decode()[1:-1]
