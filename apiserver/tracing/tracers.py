"""tracers: Tracer, which begins the trace of a request and decides whether its spans are exported.

Must hold: the parent's decision counts where the parent may be trusted, and the ratio for all other traces. A trace is
sampled by its id alone, so that servers with one ratio agree.
"""

from collections.abc import Callable

from msgspec.structs import replace

from aio_apiserver.apiserver.tracing.trace_context import RemoteParent
from aio_apiserver.base import tracing
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tracing import NO_ATTRIBUTES, Attributes, SpanKind, TraceFacts, TraceSpan

MILLION = 1_000_000
_SAMPLED_BITS = 63
"""OpenTelemetry for Go compares so many bits of a trace's id with the ratio."""


class Tracer:
    """Begins traces. exports: whether there is a collector. rate: sampled traces in a million, without a parent."""

    def __init__(self, clock: Clock, on_end: Callable[[TraceSpan], None], *, exports: bool, rate: int = 0) -> None:
        self.exports = exports
        self._clock = clock
        self._on_end = on_end
        self._bound = rate * (1 << _SAMPLED_BITS) // MILLION

    def first(
        self,
        name: str,
        attributes: Attributes = NO_ATTRIBUTES,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        linked: RemoteParent | None = None,
        began: float | None = None,
    ) -> TraceSpan:
        """The first span of a new trace."""
        links = () if linked is None else ((linked.trace, linked.span),)
        return TraceSpan(self._facts(), name, attributes, kind=kind, links=links, began=began)

    def continued(
        self, parent: RemoteParent, name: str, attributes: Attributes, *, kind: SpanKind, baggage: str, began: float
    ) -> TraceSpan:
        """A span in the trace of the client."""
        facts = self._facts(parent, baggage=baggage)
        return TraceSpan(facts, name, attributes, kind=kind, parent=parent.span, began=began)

    def inside(
        self, around: TraceSpan, name: str, attributes: Attributes, *, kind: SpanKind, baggage: str, began: float
    ) -> TraceSpan:
        """A span in the trace of another one."""
        facts = replace(around.trace, baggage=baggage) if baggage else around.trace
        return TraceSpan(facts, name, attributes, kind=kind, parent=around.number, began=began)

    def _facts(self, parent: RemoteParent | None = None, *, baggage: str = "") -> TraceFacts:
        offset = self._clock.now() - self._clock.monotonic()
        if not self.exports:
            return TraceFacts(clock=self._clock, offset=offset, on_end=self._on_end)
        number = tracing.new_number() if parent is None else parent.trace
        return TraceFacts(
            clock=self._clock,
            offset=offset,
            on_end=self._on_end,
            number=number,
            is_sampled=self._is_sampled(number) if parent is None else parent.is_sampled,
            state="" if parent is None else parent.state,
            baggage=baggage,
        )

    def _is_sampled(self, number: int) -> bool:
        return (number & ((1 << 64) - 1)) >> 1 < self._bound
