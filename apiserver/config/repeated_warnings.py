"""repeated_warnings: a log filter that writes a warning once in ten seconds, however often it comes.

All watch caches of a server warn in the same words when its etcd cannot be reached. One line says it.

Must hold: the first of equal warnings is written at once, and the next that is written says how many were left out.
Errors, tracebacks and records with fields are all written. At most 1,000 texts are kept.
"""

import logging
from typing import NamedTuple

SECONDS = 10.0
_MOST = 1000


class _Written(NamedTuple):
    """When a warning was written, and how many equal ones were left out since."""

    at: float
    left_out: int


class RepeatedWarnings(logging.Filter):
    """The filter of one log handler."""

    def __init__(self) -> None:
        super().__init__()
        self._written: dict[tuple[str, int, str], _Written] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING or record.exc_info or getattr(record, "fields", None):
            return True
        text = record.getMessage()
        key = record.pathname, record.lineno, text
        known = self._written.pop(key, None)
        if known is not None and 0 <= record.created - known.at < SECONDS:
            self._written[key] = known._replace(left_out=known.left_out + 1)
            return False
        if len(self._written) >= _MOST:
            del self._written[next(iter(self._written))]
        self._written[key] = _Written(record.created, 0)
        if known is not None and known.left_out:
            record.msg, record.args = f"{text} ({known.left_out} more of these were left out)", ()
        return True
