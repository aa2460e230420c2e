"""client_spans: the span of one request to another server, which continues the trace there.

Must hold: credentials in a URL do not reach the span.
"""

from contextlib import AbstractContextManager
from urllib.parse import urlsplit

from aio_apiserver.apiserver.outgoing import webhook_words
from aio_apiserver.base import tracing
from aio_apiserver.base.tracing import SpanKind, TraceSpan, Untraced

_ERRORS = 400


def begun(method: str, url: str) -> AbstractContextManager[TraceSpan | Untraced]:
    """The span of a request. Its `headers` belong into the request."""
    if isinstance(tracing.current(), Untraced):
        return tracing.spanned("")
    attributes: tracing.Attributes = {
        "http.request.method": method,
        "url.full": webhook_words.redacted(url),
        "server.address": urlsplit(url).hostname or "",
    }
    return tracing.spanned(f"HTTP {method}", attributes, threshold=None, kind=SpanKind.CLIENT)


def answered(span: TraceSpan | Untraced, status: int) -> None:
    """Note the status of the response."""
    if isinstance(span, TraceSpan):
        span.attributes["http.response.status_code"] = status
        span.has_failed = status >= _ERRORS
