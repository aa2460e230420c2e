"""Logs: one line to stderr for each record, in klog's text format or as JSON.

    I1118 12:33:01.123456 4711 server.py:42] Serving securely on [::]:6443

A record may have fields (`fielded`), which the text shows as klog does, and the JSON as members.

Must hold: log records contain no bodies, no tokens, and no header of a request but its User-Agent. A traceback belongs
to its record.
"""

import fcntl
import logging
import os
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TextIO

import orjson

from aio_apiserver.apiserver.config.repeated_warnings import RepeatedWarnings
from aio_apiserver.registry.base.golang.quoting import quote

_LETTERS = {logging.WARNING: "W", logging.ERROR: "E", logging.CRITICAL: "F"}
DEBUG_VERBOSITY = 4
"""The -v from which debug messages are logged."""
TRACE_MODULE, TRACE_VERBOSITY = "trace", 2
"""The name for --vmodule, and the verbosity from which slow requests are logged with their steps."""
Fields = Mapping[str, object]


def fielded(verbosity: int, fields: Fields) -> Mapping[str, object]:
    """The `extra` of a record with fields, and with the -v from which it is written."""
    return {"v": verbosity, "fields": fields}


class ModuleLevels:
    """The verbosity of modules by the patterns of --vmodule (`httplog=3`, `watch*=4`). The first that fits counts."""

    def __init__(self, settings: Sequence[str]) -> None:
        self._patterns = [(pattern, int(level)) for pattern, _, level in (one.partition("=") for one in settings)]
        self.most = max((level for _, level in self._patterns), default=0)

    def of(self, module: str) -> int:
        """The verbosity of a module; 0 when no pattern fits."""
        return next((level for pattern, level in self._patterns if fnmatchcase(module, pattern)), 0)


class DetailFilter(logging.Filter):
    """Drops details of modules whose verbosity is too low."""

    def __init__(self, verbosity: int, modules: ModuleLevels) -> None:
        super().__init__()
        self.verbosity = verbosity
        self.modules = modules

    @property
    def most(self) -> int:
        """The highest verbosity of a module."""
        return max(self.verbosity, self.modules.most)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.INFO or self.verbosity >= DEBUG_VERBOSITY:
            return True
        return self.modules.of(record.module) >= DEBUG_VERBOSITY


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
            entry["v"] = getattr(record, "v", DEBUG_VERBOSITY if record.levelno < logging.INFO else 0)
        elif record.exc_info:
            entry["err"] = self.formatException(record.exc_info)
        return orjson.dumps({**entry, **_fields(record)}, default=str).decode(errors="replace")


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


def configure(
    log_format: str,
    verbosity: int,
    *,
    vmodule: Sequence[str] = (),
    stream: TextIO | None = None,
    lock: Path | None = None,
) -> None:
    """Send all logs of the process to stderr. lock: a file for several processes with one stderr."""
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream) if lock is None else WholeLines(stream, lock)
    handler.setFormatter(JsonFormatter() if log_format == "json" else KlogFormatter())
    handler.addFilter(DetailFilter(verbosity, ModuleLevels(vmodule)))
    handler.addFilter(RepeatedWarnings())
    logging.basicConfig(handlers=[handler], force=True)
    set_verbosity(verbosity)
    logging.captureWarnings(capture=True)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")


def set_verbosity(verbosity: int) -> None:
    """Change the verbosity. Whether requests are logged stays as it was at the start."""
    root, most = logging.getLogger(), verbosity
    for handler in root.handlers:
        for one in handler.filters:
            if isinstance(one, DetailFilter):
                one.verbosity = verbosity
                most = one.most
    root.setLevel(logging.DEBUG if most >= DEBUG_VERBOSITY else logging.INFO)


def _message(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    message = record.getMessage()
    if fields := _fields(record):
        message = " ".join([quote(message), *(f"{name}={_klog_value(value)}" for name, value in fields.items())])
    return f"{message}\n{formatter.formatException(record.exc_info)}" if record.exc_info else message


def _fields(record: logging.LogRecord) -> Fields:
    fields: Fields = getattr(record, "fields", {})
    return fields


def _klog_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return quote(value) if isinstance(value, str) else str(value)
