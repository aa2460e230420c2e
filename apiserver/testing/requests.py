"""Requests: what clients have asked for, for tests that ask what an operator did.

    server.requests.matching(verb="patch", resource="pods")

Written on the server's event loop, read from any thread. Must hold: what is remembered is bounded; no header and no
body is.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from aiohttp import hdrs, web

from apiserver import responses
from apiserver.context import Handler, RequestContext
from registry.errors import StatusError
from storage.clock import Clock

_KEPT = 10_000


@dataclass(slots=True)
class Seen:
    """One request. `status` is 0 as long as it has no answer: while it runs, or when its connection broke."""

    number: int
    at: float
    method: str
    path: str
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    user_agent: str
    status: int = 0
    fault: str = ""

    def __str__(self) -> str:
        fault = f" [{self.fault}]" if self.fault else ""
        return f"{self.number:5} {self.status or '---'} {self.method} {self.path} ({self.user_agent}){fault}"


class Requests:
    """Of one server, oldest first."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: deque[Seen] = deque(maxlen=_KEPT)
        self._count = 0

    @property
    def count(self) -> int:
        """How many there were so far."""
        return self._count

    def matching(self, *, since: int = 0, **patterns: str | int) -> Sequence[Seen]:
        """Those behind the first `since` whose fields match patterns of the shell: verb, resource, name, user ..."""
        return self.selected({field: str(pattern) for field, pattern in patterns.items()}, since=since)

    def selected(self, patterns: Mapping[str, str], *, since: int = 0) -> Sequence[Seen]:
        """The same, by a table."""
        return [
            one
            for one in tuple(self._seen)
            if one.number > since
            and all(fnmatchcase(str(getattr(one, field)), pattern) for field, pattern in patterns.items())
        ]

    def clear(self) -> None:
        """Forget them; numbers go on."""
        self._seen.clear()

    def with_recording(self, handler: Handler) -> Handler:
        """Remember what comes, and how it ends."""

        async def recorded(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            seen = self._began(request, context)
            try:
                response = await handler(request, context)
            except StatusError as failure:
                seen.status = failure.code
                raise
            seen.status = response.status
            seen.fault = response.headers.get(responses.FAULT, "")
            return response

        return recorded

    def _began(self, request: web.BaseRequest, context: RequestContext) -> Seen:
        self._count += 1
        info = context.info
        seen = Seen(
            number=self._count,
            at=self._clock.now(),
            method=request.method,
            path=request.raw_path,
            verb=info.verb,
            group=info.group,
            resource=info.resource,
            subresource=info.subresource,
            namespace=info.namespace,
            name=info.name,
            user=context.user.name,
            user_agent=request.headers.get(hdrs.USER_AGENT, ""),
        )
        self._seen.append(seen)
        return seen
