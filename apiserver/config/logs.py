"""Logs: one line to stderr for each record, in klog's text format or as JSON.

    I1118 12:33:01.123456 4711 server.py:42] Serving securely on [::]:6443

Must hold: log records contain no headers, bodies and tokens. A traceback belongs to its record.
"""

import fcntl
import logging
import os
import sys
import time
import warnings
from pathlib import Path
from typing import TextIO

import orjson

_LETTERS = {logging.WARNING: "W", logging.ERROR: "E", logging.CRITICAL: "F"}
DEBUG_VERBOSITY = 4
"""The -v from which debug messages are logged."""
HTTP_VERBOSITY = 3
"""The -v from which every request is logged."""


class KlogFormatter(logging.Formatter):
    """The text format of klog."""

    def format(self, record: logging.LogRecord) -> str:
        letter = _LETTERS.get(record.levelno, "I")
        moment = time.strftime("%m%d %H:%M:%S", time.localtime(record.created))
        microseconds = int(record.created % 1 * 1_000_000)
        place = f"{record.filename}:{record.lineno}"
        return f"{letter}{moment}.{microseconds:06d} {os.getpid():7d} {place}] {_message(self, record)}"


class JsonFormatter(logging.Formatter):
    """The JSON format of Kubernetes: `ts` in milliseconds, `v` for records that are no errors."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "ts": round(record.created * 1000, 4),
            "caller": f"{record.filename}:{record.lineno}",
            "msg": record.getMessage(),
        }
        if record.levelno < logging.ERROR:
            entry["v"] = DEBUG_VERBOSITY if record.levelno < logging.INFO else 0
        elif record.exc_info:
            entry["err"] = self.formatException(record.exc_info)
        return orjson.dumps(entry, default=str).decode()


class WholeLines(logging.StreamHandler[TextIO]):
    """Records of several processes on one stream, one after the other. `lock`: the file that the processes lock."""

    def __init__(self, stream: TextIO, lock: Path) -> None:
        super().__init__(stream)
        self._descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def emit(self, record: logging.LogRecord) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            super().emit(record)
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)


def configure(log_format: str, verbosity: int, *, stream: TextIO | None = None, lock: Path | None = None) -> None:
    """Send all logs of the process to stderr. lock: a file for several processes with one stderr."""
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream) if lock is None else WholeLines(stream, lock)
    handler.setFormatter(JsonFormatter() if log_format == "json" else KlogFormatter())
    logging.basicConfig(handlers=[handler], force=True)
    set_verbosity(verbosity)
    logging.captureWarnings(capture=True)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def set_verbosity(verbosity: int) -> None:
    """Change the verbosity. Whether requests are logged stays as it was at the start."""
    logging.getLogger().setLevel(logging.DEBUG if verbosity >= DEBUG_VERBOSITY else logging.INFO)


def _message(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    message = record.getMessage()
    return f"{message}\n{formatter.formatException(record.exc_info)}" if record.exc_info else message
