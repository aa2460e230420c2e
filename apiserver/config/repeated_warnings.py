"""repeated_warnings: a log filter that writes equal warnings ever more rarely: after ten seconds, twenty, forty, ...

All watch caches of a server warn in the same words when its etcd cannot be reached. One line says it, and a night
without etcd adds some dozens.

Must hold: the first of equal warnings is written at once, also after a pause, and the next that is written says how
many were left out. While they last, one is written every ten minutes at least. Errors, tracebacks and records with
fields are all written. At most 1,000 texts are kept.
"""

import logging
from typing import NamedTuple

from aio_apiserver.base.short_texts import key_of

SECONDS = 10.0
MOST_SECONDS = 600.0
_MOST = 1000


class _Written(NamedTuple):
    """When a warning was written, how long equal ones are left out, and when and how many of them were."""

    at: float
    seconds: float
    last: float
    left_out: int


class RepeatedWarnings(logging.Filter):
    """The filter of one log handler."""

    def __init__(self) -> None:
        super().__init__()
        self._written: dict[tuple[str, int, str], _Written] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING or record.exc_info or getattr(record, "fields", None):
            return True
        text, now = record.getMessage(), record.created
        key = record.pathname, record.lineno, key_of(text)
        known = self._written.pop(key, None)
        seconds = SECONDS
        if known is not None and not _is_over(known, now):
            if now - known.at < known.seconds:
                self._written[key] = known._replace(last=now, left_out=known.left_out + 1)
                return False
            seconds = min(known.seconds * 2, MOST_SECONDS)
        if len(self._written) >= _MOST:
            del self._written[next(iter(self._written))]
        self._written[key] = _Written(now, seconds, now, 0)
        if known is not None and known.left_out:
            record.msg, record.args = f"{text} ({known.left_out} more of these were left out)", ()
        return True


def _is_over(known: _Written, now: float) -> bool:
    """Whether the warnings have paused, so that a new one is news. A clock that goes back counts as a pause."""
    return not 0 <= now - known.last < max(3 * SECONDS, known.seconds / 8)
