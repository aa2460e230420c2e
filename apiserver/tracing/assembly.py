"""assembly: the tracer of a server, from its flags: it exports traces, logs slow ones, or measures
for audit events."""

import importlib.util
import platform
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from aio_apiserver.apiserver.config import logs
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.tracing.slow_traces import SlowTraces
from aio_apiserver.apiserver.tracing.tracers import Tracer
from aio_apiserver.base import worker_thread
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tracing import TraceSpan
from aio_apiserver.registry.base.deferred import Deferred

if TYPE_CHECKING:
    from aio_apiserver.apiserver.tracing import exporter, tracing_config
else:
    exporter = Deferred("aio_apiserver.apiserver.tracing.exporter")
    tracing_config = Deferred("aio_apiserver.apiserver.tracing.tracing_config")

OnEnd = Callable[[TraceSpan], None]
EXTRA = "aio-apiserver[tracing]"
_NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.grpc")


def open_tracing(settings: Settings, clock: Clock, stack: AsyncExitStack, *, verbosity: int) -> Tracer:
    """Raises ValueError for an invalid --tracing-config-file, and when its extra is not installed."""
    log = _logger(verbosity) if verbosity >= logs.TRACE_VERBOSITY else None
    if settings.tracing_config_file is None:
        return Tracer(clock, log or _ignore, exports=False)
    config = tracing_config.read(settings.tracing_config_file)
    if not all(map(_is_installed, _NEEDED)):
        raise ValueError(f"--tracing-config-file needs OpenTelemetry: pip install '{EXTRA}'")
    sender = exporter.open_sender(config.endpoint, platform.node())
    stack.push_async_callback(_closed, sender)
    return Tracer(clock, _both(sender.ended, log), exports=True, rate=config.sampling_rate_per_million)


async def _closed(sender: "exporter.SpanSender") -> None:
    await worker_thread.run_without_interpreter(sender.close, worker_thread.STORE)


def _ignore(_span: TraceSpan) -> None:
    """The end of a span that is neither exported nor logged."""


def _logger(verbosity: int) -> OnEnd:
    """The log of slow operations. One inside of another is logged with it."""
    slow = SlowTraces(verbosity)

    def ended(span: TraceSpan) -> None:
        if span.is_topmost and span.threshold is not None:
            slow.ended(span)

    return ended


def _both(send: OnEnd, log: OnEnd | None) -> OnEnd:
    def ended(span: TraceSpan) -> None:
        if span.trace.is_sampled:
            send(span)
        if log is not None:
            log(span)

    return ended


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
