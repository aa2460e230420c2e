"""Metrics: /metrics and /metrics/slis, for Prometheus.

Must hold: as in kube-apiserver, the format does not depend on the Accept header, every method is answered, and DELETE
resets the metrics. Each of several workers answers for all. The first request imports prometheus_client in a thread.
"""

import asyncio
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from aiohttp import hdrs, web
from msgspec import Struct

from aio_apiserver.apiserver.endpoints import exposition
from aio_apiserver.apiserver.endpoints.compressed_documents import takes_gzip
from aio_apiserver.apiserver.metrics import registry
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily
from aio_apiserver.apiserver.metrics.monitoring import Monitoring
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.local_questions import AskOthers, Respond
from aio_apiserver.base.measures import MetricKind
from aio_apiserver.registry.base.deferred import Deferred, load

if TYPE_CHECKING:
    from aio_apiserver.apiserver.metrics import merging, process
else:
    merging = Deferred("aio_apiserver.apiserver.metrics.merging")
    process = Deferred("aio_apiserver.apiserver.metrics.process")

_GZIP_WINDOW = 31
_PROCESS = "process"


class _Page(Struct, frozen=True):
    """One path. is_main: it also has the metrics of the metrics and of the process."""

    question: str
    families: Callable[[], Iterable[AnyFamily]]
    is_main: bool

    @property
    def reset_question(self) -> str:
        return f"reset {self.question}"


def _pages(monitoring: Monitoring) -> Mapping[str, _Page]:
    return {
        "/metrics": _Page("metrics", monitoring.measures.families, is_main=True),
        "/metrics/slis": _Page("slis", monitoring.health.families, is_main=False),
    }


def handlers(monitoring: Monitoring, ask_others: AskOthers | None = None) -> Mapping[str, Handler]:
    """The handlers of both paths. ask_others: None without other workers."""
    return {path: _handler(page, ask_others) for path, page in _pages(monitoring).items()}


def responses_to_others(monitoring: Monitoring) -> Mapping[str, Respond]:
    """The answers to the questions of other workers."""

    async def dump(page: _Page, _argument: str) -> bytes:
        return merging.dump(page.families())

    async def reset(page: _Page, _argument: str) -> bytes:
        _reset(page.families())
        return b""

    async def dump_process(_argument: str) -> bytes:
        return process.dump()

    pages = _pages(monitoring).values()
    return {
        **{page.question: partial(dump, page) for page in pages},
        **{page.reset_question: partial(reset, page) for page in pages},
        _PROCESS: dump_process,
    }


def _handler(page: _Page, ask_others: AskOthers | None) -> Handler:
    is_loaded = not page.is_main
    turns = asyncio.Lock()

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        nonlocal is_loaded
        if not is_loaded:
            await asyncio.to_thread(load, process)
            is_loaded = True
        if request.method == hdrs.METH_DELETE:
            _reset(page.families())
            if ask_others is not None:
                await ask_others(page.reset_question)
            return responses.text(context, "metrics reset\n")
        async with turns:  # other requests pass between two pages, which take the event loop ten milliseconds each
            await asyncio.sleep(0)
            text = _text(page) if ask_others is None else await _text_of_all(page, ask_others)
            return _response(request, context, text.encode())

    return handle


def _response(request: web.BaseRequest, context: RequestContext, body: bytes) -> web.StreamResponse:
    response = responses.raw(context, body, content_type=exposition.CONTENT_TYPE)
    if takes_gzip(request.headers.get(hdrs.ACCEPT_ENCODING, "")):
        compressor = zlib.compressobj(level=1, wbits=_GZIP_WINDOW)
        response.body = compressor.compress(body) + compressor.flush()
        response.headers[hdrs.CONTENT_ENCODING] = "gzip"
    return response


def _reset(families: Iterable[AnyFamily]) -> None:
    for family in families:
        if family.kind is not MetricKind.GAUGE:
            family.reset()


def _text(page: _Page) -> str:
    """The metrics of a server with one process."""
    found = list(page.families())
    return exposition.text([*found, *registry.of(found)]) + process.text() if page.is_main else exposition.text(found)


async def _text_of_all(page: _Page, ask_others: AskOthers) -> str:
    """The metrics of all workers."""
    found = merging.merged([merging.dump(page.families()), *await ask_others(page.question)])
    if not page.is_main:
        return exposition.text(found)
    processes = process.merged_text([process.dump(), *await ask_others(_PROCESS)])
    return exposition.text([*found, *registry.of(found)]) + processes
