"""Request record: the record of all requests, for tests of what a client or an operator did.

    server.requests.matching(verb="patch", resource="pods")
    server.requests.assert_made(verb="patch", resource="pods", count=2)

Written on the server's event loop, read from any thread. Must hold: the record is bounded by bytes, its bodies too, and
the texts of a request are cut. Of the headers, User-Agent and Content-Type are kept. Credentials are not.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from threading import Condition
from typing import TypedDict, Unpack, cast

from aiohttp import hdrs, web

from aio_apiserver.apiserver.config.suggestions import did_you_mean
from aio_apiserver.apiserver.wire import bodies, responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.watch_responses import until_ended
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.kept_items import KeptByKey
from aio_apiserver.base.short_texts import cut
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.testing.bench import request_list, request_selectors
from aio_apiserver.testing.bench.recorded_request import RecordedRequest
from aio_apiserver.testing.bench.request_list import RequestList
from aio_apiserver.testing.bench.request_selectors import ResourceNames, fits_resource
from aio_apiserver.testing.bench.shown_arguments import shows_arguments

_KEPT = 10_000
_KEPT_BYTES = 32 * 1024 * 1024
_BODY_BYTES = 64 * 1024 * 1024
_LONGEST_PATH = 8192
_LONGEST = 512
_SECONDS = 10.0

Pattern = str | int | Collection[str | int]
"""A value, with `*` in text; or several, of which one has to match."""


class RequestFields(TypedDict, total=False):
    """The fields by which tests select requests. All that are given have to match.

    verb: get, list, watch, create, update, patch, delete, deletecollection; for other paths the method in lower case.
    resource: `pods`, `deployments.apps`, `deployments.apps/status`, `pods/*`.
    """

    verb: Pattern
    resource: Pattern
    namespace: Pattern
    name: Pattern
    user: Pattern
    user_agent: Pattern
    method: Pattern
    path: Pattern
    content_type: Pattern
    status: Pattern
    fault: Pattern
    line: Pattern


_CHECKS: Mapping[str, Callable[[Collection[str]], None]] = {
    "verb": request_selectors.check_verbs,
    "method": request_selectors.check_methods,
    "status": request_selectors.check_statuses,
    "fault": request_selectors.check_faults,
}
"""Fields whose values are known. The record itself checks resources."""


@shows_arguments
class RequestRecord:
    """The record of one server, oldest first."""

    def __init__(self, clock: Clock, resources: ResourceNames) -> None:
        self._clock = clock
        self._resources = resources
        self._kept: KeptByKey[int, RecordedRequest] = KeptByKey(_KEPT_BYTES, _KEPT)
        """The requests by number."""
        self._with_body: deque[RecordedRequest] = deque()
        self._bytes = 0
        self._count = 0
        self._changed = Condition()

    @property
    def count(self) -> int:
        """The number of requests so far."""
        return self._count

    def matching(self, *, since: int = 0, **patterns: Unpack[RequestFields]) -> RequestList:
        """The requests after number `since` whose fields match.

        Raises TypeError for an unknown field, ValueError for a verb, resource, method, status or fault that cannot be.
        """
        return self.selected(cast("Mapping[str, Pattern]", patterns), since=since)

    def selected(self, patterns: Mapping[str, Pattern], *, since: int = 0) -> RequestList:
        """The same as `matching`, with the patterns in a mapping."""
        wanted = self._checked(patterns)
        return RequestList(one for one in self._since(since) if _fits(one, wanted))

    @contextmanager
    def recorded(self, **patterns: Unpack[RequestFields]) -> Iterator[RequestList]:
        """The matching requests that are made while the context is open. The list is filled at its end."""
        self._checked(cast("Mapping[str, Pattern]", patterns))
        since, made = self._count, RequestList()
        try:
            yield made
        finally:
            made.extend(self.matching(since=since, **patterns))

    def assert_made(
        self, *, count: int | None = None, since: int = 0, **patterns: Unpack[RequestFields]
    ) -> RequestList:
        """Fail unless there are matching requests: `count` of them, or any. Returns them."""
        made = self.matching(since=since, **patterns)
        if len(made) == count or (count is None and made):
            return made
        wanted = "at least one" if count is None else str(count)
        raise AssertionError(
            self._report(f"{len(made)} requests fit {_pattern_text(patterns)}, expected {wanted}", made, since)
        )

    def assert_none(self, *, since: int = 0, **patterns: Unpack[RequestFields]) -> None:
        """Fail if there are matching requests."""
        self.assert_made(count=0, since=since, **patterns)

    def wait_for(
        self, *, count: int = 1, since: int = 0, timeout: float = _SECONDS, **patterns: Unpack[RequestFields]
    ) -> RequestList:
        """Wait for `count` matching requests that have a response. A watch counts when it has begun.

        Raises AssertionError when time is over.
        """
        made = RequestList()

        def is_enough() -> bool:
            made[:] = (one for one in self.matching(since=since, **patterns) if one.status or one.verb == "watch")
            return len(made) >= count

        with self._changed:
            if self._changed.wait_for(is_enough, timeout):
                return made
        what = f"{len(made)} requests fit {_pattern_text(patterns)}, expected {count} within {timeout:g} s"
        raise AssertionError(self._report(what, made, since))

    async def wait_for_async(
        self, *, count: int = 1, since: int = 0, timeout: float = _SECONDS, **patterns: Unpack[RequestFields]
    ) -> RequestList:
        """The same, for tests whose event loop must run meanwhile."""
        return await asyncio.to_thread(self.wait_for, count=count, since=since, timeout=timeout, **patterns)

    def clear(self) -> None:
        """Delete the record. The numbering goes on."""
        with self._changed:
            self._kept.clear()
        self._with_body.clear()
        self._bytes = 0

    def with_recording(self, handler: Handler) -> Handler:
        """The filter that records requests and their status."""

        async def recorded(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            seen = self._began(request, context)
            try:
                response = await handler(request, context)
                await until_ended(response)
            except StatusError as failure:
                self._ended(seen, failure.code, request)
                raise
            seen.fault = response.headers.get(responses.FAULT, "")
            self._ended(seen, response.status, request)
            return response

        return recorded

    def _checked(self, patterns: Mapping[str, Pattern]) -> Mapping[str, Collection[str]]:
        """The patterns as texts. Raises TypeError, ValueError."""
        wanted = {field: _texts(pattern) for field, pattern in patterns.items()}
        for field, texts in wanted.items():
            if field not in RequestFields.__annotations__:
                raise TypeError(_unknown(field))
            if field in _CHECKS:
                _CHECKS[field](texts)
        if "resource" in wanted:
            self._resources.check(wanted["resource"], also={one.full_resource for one in self._since(0)})
        return wanted

    def _since(self, number: int) -> list[RecordedRequest]:
        with self._changed:
            return [one for one in self._kept if one.number > number]

    def _report(self, what: str, made: RequestList, since: int) -> str:
        """A message for people: what is wrong, and all requests."""
        numbers = {one.number for one in made}
        return "\n".join([what, *request_list.table(self._since(since), numbers)])

    def _began(self, request: web.BaseRequest, context: RequestContext) -> RecordedRequest:
        self._count += 1
        info = context.info
        seen = RecordedRequest(
            number=self._count,
            at=self._clock.now(),
            method=cut(request.method, _LONGEST),
            path=cut(request.raw_path, _LONGEST_PATH),
            verb=cut(info.verb, _LONGEST),
            group=cut(info.group, _LONGEST),
            resource=cut(info.resource, _LONGEST),
            subresource=cut(info.subresource, _LONGEST),
            namespace=cut(info.namespace, _LONGEST),
            name=cut(info.name, _LONGEST),
            user=cut(context.user.name, _LONGEST),
            user_agent=cut(request.headers.get(hdrs.USER_AGENT, ""), _LONGEST),
            content_type=cut(request.headers.get(hdrs.CONTENT_TYPE, ""), _LONGEST),
        )
        with self._changed:
            self._kept.put(seen.number, seen, seen.size)
            self._changed.notify_all()
        return seen

    def _ended(self, seen: RecordedRequest, status: int, request: web.BaseRequest) -> None:
        data = request.get(bodies.BODY, b"")
        if data:
            self._keep(seen, len(data))
        with self._changed:
            seen.answered(status, data)
            self._changed.notify_all()

    def _keep(self, seen: RecordedRequest, size: int) -> None:
        """Count a body, and drop the oldest bodies when there are too many."""
        self._with_body.append(seen)
        self._bytes += size
        while self._bytes > _BODY_BYTES:
            oldest = self._with_body.popleft()
            self._bytes -= len(oldest.data)
            oldest.data = b""


def _texts(pattern: Pattern) -> Collection[str]:
    return [str(pattern)] if isinstance(pattern, str | int) else list(map(str, pattern))


def _fits(one: RecordedRequest, wanted: Mapping[str, Collection[str]]) -> bool:
    return all(any(_fits_field(one, field, pattern) for pattern in patterns) for field, patterns in wanted.items())


def _fits_field(one: RecordedRequest, field: str, pattern: str) -> bool:
    if field == "resource":
        return fits_resource(pattern, one.full_resource)
    if field == "fault":
        return request_selectors.fits_fault(pattern, one.fault)
    return fnmatchcase(str(getattr(one, field)), pattern)


def _unknown(field: str) -> str:
    if field in ("group", "subresource"):
        return f"requests are not selected by {field}: it is a part of `resource`, as in `deployments.apps/status`"
    known = RequestFields.__annotations__
    return f"requests have no {field}" + (did_you_mean(field, known) or f"; they have {', '.join(known)}")


def _pattern_text(patterns: RequestFields) -> str:
    return ", ".join(f"{field}={pattern!r}" for field, pattern in patterns.items()) or "anything"
