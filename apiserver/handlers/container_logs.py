"""Logs: what a kubelet has of a container's output, passed on as it comes."""

from aiohttp import web
from multidict import CIMultiDict

from apiserver import responses
from apiserver.backends import Backends, Unreachable
from apiserver.context import RequestContext
from apiserver.handlers import forwarding, relaying
from registry import errors
from registry.errors import StatusError
from registry.locations import Location
from registry.names import GroupResource
from registry.quoting import quote

_RESOURCE = GroupResource("", "pods/log")
_TEXT = "text/plain"
_MOST_READ = 50_000
_GOOD = range(200, 207)


async def send(
    request: web.BaseRequest, context: RequestContext, location: Location, backends: Backends
) -> web.StreamResponse:
    """Pass a log on. Raises StatusError for what the kubelet refuses."""
    url = forwarding.url_of(location, "")
    try:
        async with backends.request(location, "GET", url, headers=CIMultiDict()) as answer:
            if answer.status not in _GOOD:
                raise _refused(answer.status, (await answer.content.read(_MOST_READ)).decode(errors="replace"), context)
            response = web.StreamResponse(headers=responses.headers(context, _TEXT))
            return await relaying.relay(request, context, answer, response)
    except Unreachable as exc:
        raise StatusError(f"Get {quote(url)}: {exc}") from exc


def _refused(status: int, text: str, context: RequestContext) -> StatusError:
    """A kubelet's refusal as one of this server."""
    if status == 500:
        return errors.InternalError(text)
    if status == 400:
        return errors.BadRequest(text)
    return errors.ServerResponse(status, _RESOURCE, context.info.name, text)
