"""Tracing: the audit event of a slow request has the time of its layers, also where no trace is exported or logged."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from aiohttp import web

from aio_apiserver.apiserver.auditing.auditor import Auditor
from aio_apiserver.apiserver.filters import tracing
from aio_apiserver.apiserver.filters.audit import with_audit
from aio_apiserver.apiserver.filters.authorization import with_authorization
from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.metrics.audit import AuditMetrics
from aio_apiserver.apiserver.tracing.tracers import Tracer
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.registry.generic.access.authorizer import ALLOWED, Attributes, Decision, Rules
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.audit.levels import Level
from aio_apiserver.registry.generic.audit.policy import Policy, Recording
from aio_apiserver.registry.generic.audit.trail import Event
from aio_apiserver.storage.clock import ManualClock
from aio_apiserver.storage.factory.traced_kv import TracedKV
from aio_apiserver.storage.kv.interface import WriteResult
from aio_apiserver.storage.kv.memory import MemoryKV
from tests.apiserver.serving import ask, listening

PREFIX = "apiserver.latency.k8s.io/"


class SlowKV(MemoryKV):
    """A store whose writes take 0.125 s."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock=clock)
        self._moved = clock

    async def put(self, key: bytes, value: bytes, *, expected_mod_revision: int, lease: int = 0) -> WriteResult:
        self._moved.advance(0.125)
        return await super().put(key, value, expected_mod_revision=expected_mod_revision, lease=lease)


class SlowAuthorizer:
    """Allows everything, after 0.5 s."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    async def authorize(self, _attributes: Attributes) -> Decision:
        self._clock.advance(0.5)
        return ALLOWED

    async def rules_for(self, _user: UserInfo, _namespace: str) -> Rules:
        return Rules()


class LastEvents:
    """Keeps events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def process(self, events: Sequence[Event]) -> bool:
        self.events += events
        return True

    async def close(self) -> None:
        """Nothing has to be closed."""


def slowly_authenticated(handler: Handler, clock: ManualClock) -> Handler:
    async def known(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        clock.advance(0.25)
        return await handler(request, context)

    return known


def no_end(_span: Any) -> None:
    """The end of a span that is not kept."""


async def test_a_slow_request_is_annotated_with_the_time_of_access_and_of_the_store() -> None:
    clock, kept = ManualClock(), LastEvents()
    tracer, kv = Tracer(clock, no_end, exports=False), TracedKV(SlowKV(clock))
    auditor = Auditor(Policy([], Recording(Level.METADATA)), kept, AuditMetrics(), clock)
    authorizer = tracing.TimedAuthorizer(SlowAuthorizer(clock))

    async def handler(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        for key in (b"a", b"b"):
            await kv.put(key, b"", expected_mod_revision=0)
        return responses.text(context, "ok")

    filters = (
        with_request_info,
        with_errors,
        partial(tracing.with_first_span, name="authentication", tracer=tracer),
        partial(slowly_authenticated, clock=clock),
        partial(tracing.with_request_span, tracer=tracer),
        partial(with_audit, auditor=auditor),
        partial(with_authorization, authorizer=authorizer, metrics=AccessMetrics(), clock=clock),
    )
    async with listening(handler, *filters, clock=clock) as listener:
        await ask(listener.port, "/x")

    found = kept.events[-1]["annotations"]
    assert {name: text for name, text in found.items() if name.startswith(PREFIX)} == {
        f"{PREFIX}authentication": "250ms",
        f"{PREFIX}authorization": "500ms",
        f"{PREFIX}etcd": "250ms",
        f"{PREFIX}total": "1s",
    }
