"""Container logs: streams the output of a container from the kubelet to the client."""

from aiohttp import web
from multidict import CIMultiDict

from aio_apiserver.apiserver.handlers import relaying
from aio_apiserver.apiserver.outgoing import forwarded_headers
from aio_apiserver.apiserver.outgoing.relay_client import RelayClient, Unreachable
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.locations import Location
from aio_apiserver.registry.base.names import GroupResource

_RESOURCE = GroupResource("", "pods/log")
_TEXT = "text/plain"
_MOST_READ = 50_000
_GOOD = range(200, 207)


async def send(
    request: web.BaseRequest, context: RequestContext, location: Location, backends: RelayClient
) -> web.StreamResponse:
    """Stream a log. Raises the StatusError for a refusal of the kubelet."""
    url = forwarded_headers.url_of(location, "")
    try:
        async with backends.request(location, "GET", url, headers=CIMultiDict()) as answer:
            if answer.status not in _GOOD:
                raise _refused(answer.status, (await answer.read(_MOST_READ)).decode(errors="replace"), context)
            response = web.StreamResponse(headers=responses.headers(context, _TEXT))
            return await relaying.relay(request, context, answer, response)
    except Unreachable as exc:
        raise StatusError(f"Get {quote(url)}: {exc}") from exc


def _refused(status: int, text: str, context: RequestContext) -> StatusError:
    """The kubelet's refusal as a StatusError of this server."""
    if status == 500:
        return errors.InternalError(text)
    if status == 400:
        return errors.BadRequest(text)
    return errors.ServerResponse(status, _RESOURCE, context.info.name, text)
