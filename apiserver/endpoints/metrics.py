"""Metrics: /metrics and /metrics/slis, for Prometheus.

Must hold: as in kube-apiserver, the format does not depend on the Accept header, every method is answered, and DELETE
resets the metrics. prometheus_client is imported at the first request.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from aiohttp import hdrs, web

from aio_apiserver.apiserver.endpoints import exposition
from aio_apiserver.apiserver.endpoints.compressed_documents import takes_gzip
from aio_apiserver.apiserver.metrics import registry
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily
from aio_apiserver.apiserver.metrics.monitoring import Monitoring
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.storage.measures import MetricKind

_GZIP_WINDOW = 31


def handlers(monitoring: Monitoring) -> Mapping[str, Handler]:
    """The handlers of both paths."""
    return {
        "/metrics": _handler(lambda: _all(monitoring), _process),
        "/metrics/slis": _handler(monitoring.health.families, str),
    }


def _handler(families: Callable[[], Iterable[AnyFamily]], more: Callable[[], str]) -> Handler:
    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if request.method == hdrs.METH_DELETE:
            for family in families():
                if family.kind is not MetricKind.GAUGE:
                    family.reset()
            return responses.text(context, "metrics reset\n")
        body = (exposition.text(families()) + more()).encode()
        response = responses.raw(context, body, content_type=exposition.CONTENT_TYPE)
        if takes_gzip(request.headers.get(hdrs.ACCEPT_ENCODING, "")):
            compressor = zlib.compressobj(level=1, wbits=_GZIP_WINDOW)
            response.body = compressor.compress(body) + compressor.flush()
            response.headers[hdrs.CONTENT_ENCODING] = "gzip"
        return response

    return handle


def _all(monitoring: Monitoring) -> Sequence[AnyFamily]:
    found = list(monitoring.measures.families())
    return [*found, *registry.of(found)]


def _process() -> str:
    """The metrics of the Python process: memory, CPU time, open files, garbage collection."""
    from prometheus_client import generate_latest

    return generate_latest().decode()
