"""slow_traces: the log entry of a slow operation with its steps, in the form of k8s.io/utils/trace.

    Trace[5]: "Create" audit-id:...,url:/api/v1/... (19-Nov-2026 13:00:00.123) (total time: 600ms):
    Trace[5]: ---"Write to database call succeeded" len:77 590ms (13:00:00.713)
    Trace[5]: [600.1ms] [600.1ms] END

Steps that took less than their share of the threshold are left out; -v=4 shows all. Pure, but for the log. Must hold:
text of a client makes no line of its own.
"""

import logging
from collections.abc import Iterator
from time import localtime, strftime

from aio_apiserver.apiserver.config import logs
from aio_apiserver.base.jitter import chance
from aio_apiserver.base.tracing import Attributes, SpanStep, TraceSpan
from aio_apiserver.registry.base.golang import durations

logger = logging.getLogger(__name__)

_SHOWS_ALL = 4
_NUMBERS = 1 << 31
_LONGEST = 1024


class SlowTraces:
    """Logs slow operations. verbosity: that of the server."""

    def __init__(self, verbosity: int) -> None:
        self._shows_all = verbosity >= _SHOWS_ALL

    def ended(self, span: TraceSpan) -> None:
        """Log an operation that has ended, or the slow ones in it."""
        if not _is_long(span):
            for item in span.items:
                if isinstance(item, TraceSpan):
                    self.ended(item)
            return
        logger.info("%s", self.entry(span, chance.randrange(_NUMBERS)), extra=logs.fielded(logs.TRACE_VERBOSITY, {}))

    def entry(self, span: TraceSpan, number: int) -> str:
        """The text about an operation."""
        start = f"Trace[{number}]: "
        began = localtime(span.began + span.trace.offset)
        moment = strftime("%d-%b-%Y ", began) + _moment(span, span.began)
        head = (
            f'{start}"{span.name}" {_fields(span.attributes)}({moment}) (total time: {_milliseconds(span.seconds)}ms):'
        )
        took = durations.show(span.seconds)
        steps = "".join(self._steps(span, f"\n{start}", _share(span)))
        return f"{head}{steps}\n{start}[{took}] [{took}] END"

    def _steps(self, span: TraceSpan, indent: str, share: float) -> Iterator[str]:
        last = span.began
        for item in span.items:
            if isinstance(item, SpanStep):
                if self._shows_all or item.at - last >= share:
                    yield f"{indent}---{_summary(span, item.name, item.attributes, last, item.at)}"
                last = item.at
            else:
                yield from self._nested(item, indent, share)
                last = item.ended if item.has_ended else item.began

    def _nested(self, span: TraceSpan, indent: str, share: float) -> Iterator[str]:
        if span.threshold is None or not (_is_long(span) or self._shows_all):
            inner = (item for item in span.items if isinstance(item, TraceSpan))
            for item in inner:
                yield from self._nested(item, indent, share)
            return
        yield f"{indent}[{_summary(span, span.name, span.attributes, span.began, span.ended, at=span.began)}"
        yield from self._steps(span, f"{indent} ", _share(span))
        yield "]"


def _is_long(span: TraceSpan) -> bool:
    return span.threshold is not None and span.has_ended and span.seconds >= span.threshold


def _share(span: TraceSpan) -> float:
    """The seconds from which a step is shown: an equal part of what nested operations leave of the threshold."""
    whole = span.threshold or 0.0
    parts, left = len(span.items) + 1, whole
    for item in span.items:
        if isinstance(item, TraceSpan) and item.threshold is not None:
            left -= item.threshold
            parts -= 1
    if left < whole / 4:
        parts, left = len(span.items) + 1, whole / 4
    return left / parts


def _summary(
    span: TraceSpan, name: str, attributes: Attributes, since: float, until: float, *, at: float | None = None
) -> str:
    took = _milliseconds(until - since)
    return f'"{name}" {_fields(attributes)}{took}ms ({_moment(span, until if at is None else at)})'


def _fields(attributes: Attributes) -> str:
    shown = ",".join(f"{name}:{_plain(value)}" for name, value in attributes.items())
    return f"{shown} " if shown else ""


def _plain(value: object) -> str:
    """A value on one line, and not longer than a header field of kube-apiserver's logs."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}...TRUNCATED"
    return text if text.isprintable() else ascii(text)[1:-1]


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


def _moment(span: TraceSpan, at: float) -> str:
    wall = at + span.trace.offset
    return f"{strftime('%H:%M:%S', localtime(wall))}.{int(wall % 1 * 1000):03d}"
