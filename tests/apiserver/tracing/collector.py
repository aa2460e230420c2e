"""An OpenTelemetry collector for tests: a gRPC server on loopback that keeps the spans which it gets."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


class Collector:
    """The spans that a server has sent. They are complete when the server has stopped."""

    def __init__(self, port: int) -> None:
        self.endpoint = f"127.0.0.1:{port}"
        self.resources: list[Mapping[str, str]] = []
        self.spans: list[Span] = []

    def take(self, request: service.ExportTraceServiceRequest) -> None:
        for resource in request.resource_spans:
            self.resources.append({one.key: one.value.string_value for one in resource.resource.attributes})
            for scope in resource.scope_spans:
                self.spans += scope.spans

    def traces(self) -> Mapping[bytes, Sequence[Span]]:
        """The spans by trace, in the order of their beginning."""
        found: dict[bytes, list[Span]] = {}
        for span in sorted(self.spans, key=lambda one: one.start_time_unix_nano):
            found.setdefault(span.trace_id, []).append(span)
        return found

    def of_request(self, audit_id: str) -> "Tree":
        """The trace of a request."""
        (found,) = (
            spans for spans in self.traces().values() if any(of(one).get("audit-id") == audit_id for one in spans)
        )
        return Tree(found)


class Tree:
    """The spans of one trace."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = spans
        self.by_name = {span.name: span for span in spans}

    def above(self, name: str) -> Sequence[str]:
        """The names of the spans around a span, from the inside out."""
        by_id = {span.span_id: span for span in self.spans}
        names, span = [], by_id.get(self.by_name[name].parent_span_id)
        while span is not None:
            names.append(span.name)
            span = by_id.get(span.parent_span_id)
        return names


def of(span: Span) -> Mapping[str, Any]:
    """The attributes of a span."""
    return {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in span.attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    server = grpc.server(ThreadPoolExecutor(1))
    collector = Collector(server.add_insecure_port("127.0.0.1:0"))

    def export(request: service.ExportTraceServiceRequest, _context: Any) -> service.ExportTraceServiceResponse:
        collector.take(request)
        return service.ExportTraceServiceResponse()

    handler = grpc.unary_unary_rpc_method_handler(
        export, service.ExportTraceServiceRequest.FromString, service.ExportTraceServiceResponse.SerializeToString
    )
    path, _, method = _EXPORT.removeprefix("/").partition("/")
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(path, {method: handler}),))
    server.start()
    yield collector
    server.stop(None).wait()
