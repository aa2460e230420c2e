"""foreign_requests: finds requests that a page of another site made a browser send (CSRF).

A browser that shows this console may have a session or a client certificate. Browsers name the origin of a request
in Fetch Metadata (Sec-Fetch-Site). Clients that are no browsers do not send these headers.

Must hold: another site can make the browser show a page, and can do nothing else with its credentials.
"""

from aiohttp import hdrs, web

_OTHERS = frozenset({"cross-site", "same-site"})


def is_foreign(request: web.BaseRequest) -> bool:
    """Whether another site made the browser send the request, other than by a link."""
    headers = request.headers
    if headers.get("Sec-Fetch-Site") not in _OTHERS:
        return False
    is_link = headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"
    return not (is_link and request.method == hdrs.METH_GET)
