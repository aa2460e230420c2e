"""exporter: sends sampled spans to an OpenTelemetry collector, by OTLP over gRPC.

It is imported for --tracing-config-file alone, and needs the extra `tracing`. A thread of OpenTelemetry's SDK sends
batches. Must hold: a collector that does not answer delays no request; spans are dropped when the queue is full. The
texts of a span are cut.
"""

import logging
from collections.abc import Iterator

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from aio_apiserver.base.short_texts import cut
from aio_apiserver.base.tracing import Attribute, Attributes, SpanStep, TraceSpan

_SERVICE = "apiserver"
"""The service name of kube-apiserver's spans."""
_SCOPE = InstrumentationScope("aio_apiserver")
_BILLION = 1_000_000_000
_LONGEST = 1024


class SpanSender:
    """Hands spans over to the SDK. identity: that of this server in kube-apiserver's leases."""

    def __init__(self, exporter: SpanExporter, identity: str) -> None:
        self._resource = Resource.create({"service.name": _SERVICE, "service.instance.id": identity})
        self._processor = BatchSpanProcessor(exporter)

    def ended(self, span: TraceSpan) -> None:
        """Send a span."""
        self._processor.on_end(self._readable(span))

    def close(self) -> None:
        """Send the spans that wait. It takes up to the time limit of the SDK."""
        self._processor.shutdown()  # type: ignore[no-untyped-call]  # the SDK says nothing of its types here

    def _readable(self, span: TraceSpan) -> ReadableSpan:
        parent = _context(span, span.trace.number, span.parent) if span.parent else None
        return ReadableSpan(
            span.name,
            context=_context(span, span.trace.number, span.number),
            parent=parent,
            resource=self._resource,
            attributes=_short(span.attributes),
            events=tuple(_events(span)),
            links=[Link(_context(span, trace, number)) for trace, number in span.links],
            kind=SpanKind[span.kind.name],
            status=Status(StatusCode.ERROR if span.has_failed else StatusCode.UNSET),
            start_time=_nanoseconds(span, span.began),
            end_time=_nanoseconds(span, span.ended),
            instrumentation_scope=_SCOPE,
        )


def open_sender(endpoint: str, identity: str) -> SpanSender:
    """The sender to a collector. The connection has no TLS, as that of kube-apiserver."""
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
    return SpanSender(OTLPSpanExporter(endpoint=endpoint, insecure=True), identity)


def _events(span: TraceSpan) -> Iterator[Event]:
    for item in span.items:
        if isinstance(item, SpanStep):
            yield Event(item.name, attributes=_short(item.attributes), timestamp=_nanoseconds(span, item.at))


def _short(attributes: Attributes) -> dict[str, Attribute]:
    """The attributes with texts that are not long: the queue has 2,048 spans."""
    return {name: cut(value, _LONGEST) if isinstance(value, str) else value for name, value in attributes.items()}


def _context(span: TraceSpan, trace: int, number: int) -> SpanContext:
    state = TraceState.from_header([span.trace.state]) if span.trace.state else None
    return SpanContext(trace, number, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED), trace_state=state)


def _nanoseconds(span: TraceSpan, at: float) -> int:
    return int((at + span.trace.offset) * _BILLION)
