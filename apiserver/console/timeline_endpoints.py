"""timeline_endpoints: the timeline over HTTP, below /ui/api/.

    GET /ui/api/timeline?positions=9f3a01bc:7&revision=120     requests, changes and Events after a moment
    GET /ui/api/timeline/object?group=&resource=&uid=&revision=   an object before and after a change

They are registered behind `signed_in_reads`. Must hold: a change that the watch window has lost, and an object that is
too large to show, are BadRequests. One timeline is made at a time.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from aiohttp import web

from aio_apiserver.apiserver.console.timeline.history import HistoryMoment, ServerHistory
from aio_apiserver.apiserver.console.timeline.worker_requests import checked
from aio_apiserver.apiserver.wire import parameters, responses
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base import worker_thread
from aio_apiserver.base.budget import BudgetExceeded
from aio_apiserver.registry.base import errors

TIMELINE = "/ui/api/timeline"
OF_OBJECT = "/ui/api/timeline/object"
_LONGEST = 4096
_MOST_DIGITS = 18


class TimelineEndpoints:
    """The endpoints of one server."""

    def __init__(self, history: ServerHistory) -> None:
        self._history = history
        self._making = asyncio.Lock()

    async def events(self, _request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """Send the requests, changes and Events after a moment."""
        moment = HistoryMoment(_positions(context), _number(context, "revision"))
        async with self._making:
            return await _sent(context, await self._history.after(moment, context.user.name))

    async def object(self, _request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        """Send an object before and after a change."""
        group, resource, uid = (parameters.text(context.query, name) for name in ("group", "resource", "uid"))
        revision, user = _number(context, "revision"), context.user.name
        try:
            before, after = await self._history.object_at(group, resource, uid=uid, revision=revision, user=user)
        except KeyError:
            raise errors.BadRequest("the server does not have this change any more") from None
        except BudgetExceeded as exc:
            raise errors.BadRequest(f"the object is too large to show: {exc}") from exc
        return await _sent(context, {"before": before, "after": after})


async def _sent(context: RequestContext, value: Mapping[str, Any]) -> web.StreamResponse:
    """A response that may be large."""
    dump = partial(responses.dump, dict(value), is_pretty=responses.is_pretty(context))
    return responses.raw(context, await worker_thread.run(dump, context.user.name))


def _number(context: RequestContext, name: str) -> int:
    text = parameters.text(context.query, name) or "0"
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise errors.BadRequest(f"{name} must be a number")
    return int(text)


def _positions(context: RequestContext) -> str:
    text = parameters.text(context.query, "positions")
    try:
        return checked(text[:_LONGEST])
    except ValueError:
        raise errors.BadRequest("positions must be as an earlier response has named them") from None
