"""page_headers: the response headers of the console's pages: Content-Security-Policy and its companions.

Must hold: the browser loads scripts and styles from this server alone, and runs no inline script or style. It refuses
to show a page inside a frame of another page.
"""

from collections.abc import Mapping

from multidict import CIMultiDict

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext

_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)

FIXED: Mapping[str, str] = {
    "Content-Security-Policy": "; ".join(_POLICY),
    "X-Frame-Options": "DENY",
    responses.NOSNIFF: "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def page_headers(context: RequestContext, content_type: str) -> CIMultiDict[str]:
    """The headers of one page or asset."""
    fields = responses.headers(context, content_type)
    fields.update(FIXED)
    return fields
