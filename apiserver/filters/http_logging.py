"""HTTP logging: one log line for each request at -v=3 and above. Headers and bodies are not logged, since they may hold
secrets.
"""

import logging

from aiohttp import hdrs, web

from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.storage.clock import Clock

logger = logging.getLogger(__name__)


def with_http_logging(handler: Handler, clock: Clock) -> Handler:
    """Log each request at its end."""

    async def logged(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        status = 0
        try:
            response = await handler(request, context)
            status = response.status
            return response
        finally:
            milliseconds = (clock.monotonic() - context.received) * 1000
            logger.info(
                '"HTTP" verb=%s URI=%s latency="%.3fms" userAgent=%s audit-ID=%s srcIP=%s resp=%d',
                quote(request.method),
                quote(request.raw_path),
                milliseconds,
                quote(request.headers.get(hdrs.USER_AGENT, "")),
                quote(context.audit_id),
                quote(str(request.remote)),
                status,
            )

    return logged
