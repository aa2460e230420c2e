"""/metrics and /metrics/slis: what the server records of itself, for Prometheus.

Must hold: one format is written whatever is accepted, as kube-apiserver does; any method is answered, and DELETE begins
anew; what only some servers are asked for is imported when it is.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from aiohttp import hdrs, web

from aio_apiserver.apiserver.endpoints import exposition
from aio_apiserver.apiserver.endpoints.contents import takes_gzip
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
    """What any process in Python tells: memory, time, open files, garbage."""
    from prometheus_client import generate_latest

    return generate_latest().decode()
