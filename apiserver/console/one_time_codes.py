"""one_time_codes: the codes of one-time links, by which an administrator signs in to the console.

Must hold: a code is accepted once, within an hour of its making.
"""

import secrets
from collections.abc import Callable

SECONDS = 3600.0
_MOST = 16


class OneTimeCodes:
    """The codes of one server that were not used yet, oldest first."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._ends: dict[str, float] = {}

    def new_code(self) -> str:
        """Another code. The oldest of many unused ones ends."""
        code = secrets.token_urlsafe(24)
        self._ends[code] = self._monotonic() + SECONDS
        while len(self._ends) > _MOST:
            del self._ends[next(iter(self._ends))]
        return code

    def redeem(self, code: str) -> bool:
        """Whether the code is valid. It is not any more afterwards."""
        for known in self._ends:
            if secrets.compare_digest(known.encode(), code.encode(errors="replace")):
                return self._ends.pop(known) > self._monotonic()
        return False
