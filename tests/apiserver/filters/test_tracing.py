"""Tracing: the audit event of a slow request has the time of its layers, also where no trace is exported or logged."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload
from msgspec.structs import replace

from aio_apiserver.apiserver.auditing.auditor import Auditor
from aio_apiserver.apiserver.filters import tracing
from aio_apiserver.apiserver.filters.audit import with_audit
from aio_apiserver.apiserver.filters.authorization import with_authorization
from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.filters.impersonation import with_impersonation
from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.filters.sending import with_long_sending
from aio_apiserver.apiserver.handlers import traced_handlers
from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.metrics.audit import AuditMetrics
from aio_apiserver.apiserver.tracing.tracers import Tracer
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Filter, Handler, RequestContext
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.base import tracing as storage_tracing
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.tracing import TraceLayer
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.access.authorizer import ALLOWED, Attributes, Decision, Rules
from aio_apiserver.registry.generic.access.impersonation import Impersonator
from aio_apiserver.registry.generic.access.users import MASTERS, UserInfo
from aio_apiserver.registry.generic.audit.levels import Level
from aio_apiserver.registry.generic.audit.policy import Policy, Recording
from aio_apiserver.registry.generic.audit.trail import Event
from aio_apiserver.storage.factory.traced_kv import TracedKV
from aio_apiserver.storage.kv.interface import WriteResult
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.hydration import hydrate
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject
from tests.apiserver.serving import ask, listening

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
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


class SlowBody(Payload):
    """The stages recorded so far, as text that takes 0.625 s to write."""

    def __init__(self, clock: ManualClock, kept: LastEvents) -> None:
        super().__init__(b"", content_type="text/plain")
        self._clock = clock
        self._kept = kept

    async def write(self, writer: AbstractStreamWriter) -> None:
        self._clock.advance(0.625)
        await writer.write(str([event["stage"] for event in self._kept.events]).encode())

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        raise TypeError


def audited(kept: LastEvents, clock: ManualClock) -> list[Filter]:
    """The filters that trace and record requests."""
    auditor = Auditor(Policy([], Recording(Level.METADATA)), kept, AuditMetrics(), clock)
    tracer = Tracer(clock, no_end, exports=False)
    return [
        with_request_info,
        with_errors,
        partial(tracing.with_request_span, tracer=tracer),
        partial(with_audit, auditor=auditor),
    ]


def latencies(kept: LastEvents) -> dict[str, str]:
    """The annotations of the last event with durations."""
    found = kept.events[-1]["annotations"]
    return {name.removeprefix(PREFIX): text for name, text in found.items() if name.startswith(PREFIX)}


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

    assert latencies(kept) == {"authentication": "250ms", "authorization": "500ms", "etcd": "250ms", "total": "1s"}


async def test_the_time_of_an_impersonation_is_annotated() -> None:
    clock, kept = ManualClock(), LastEvents()
    impersonator = Impersonator(SlowAuthorizer(clock), is_constrained=False)
    impersonating = partial(with_impersonation, impersonator=impersonator, metrics=AccessMetrics(), clock=clock)

    async def handler(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        clock.advance(0.125)
        return responses.text(context, context.user.name)

    async with listening(handler, *audited(kept, clock), impersonating, clock=clock) as listener:
        answer = await ask(listener.port, "/x", headers={"Impersonate-User": "jane"})

    assert answer.body == b"jane"
    assert latencies(kept) == {"impersonation": "500ms", "total": "625ms"}


async def test_the_last_event_of_a_long_response_follows_its_last_byte_and_has_the_time_of_writing() -> None:
    clock, kept = ManualClock(), LastEvents()
    sent = partial(with_long_sending, draining=Draining())

    async def handler(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return responses.raw(context, SlowBody(clock, kept), status=200, content_type="text/plain")

    async with listening(handler, *audited(kept, clock), sent, clock=clock) as listener:
        answer = await ask(listener.port, "/x")

    assert answer.body == b"['RequestReceived']"
    assert latencies(kept) == {"response-write": "625ms", "total": "625ms"}


async def test_the_time_of_decoding_transforming_and_serializing_a_list_is_annotated() -> None:
    clock, kept = ManualClock(), LastEvents()

    def decode(data: bytes) -> Object:
        clock.advance(0.125)
        decoded: Object = orjson.loads(data)
        return decoded

    stored = StoredObject("a", 1, b'{"metadata":{"name":"a"}}', ObjectReader(decode, dict[str, str]))

    async def listed(_request: web.BaseRequest, context: RequestContext, _served: Any) -> web.StreamResponse:
        await hydrate([stored], clock)
        storage_tracing.current().step("Listing from storage done")
        with storage_tracing.timed(TraceLayer.TRANSFORMING):
            clock.advance(0.25)
        clock.advance(0.5)
        return responses.raw(context, SlowBody(clock, kept), status=200, content_type="text/plain")

    sent = partial(with_long_sending, draining=Draining())
    handle = traced_handlers.traced({"list": listed})["list"]

    async def handler(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return await handle(request, context, None)  # type: ignore[arg-type]  # the handler above does not read it

    async with listening(handler, *audited(kept, clock), sent, clock=clock) as listener:
        await ask(listener.port, "/x")

    assert latencies(kept) == {
        "decode-response-object": "125ms",
        "transform-response-object": "250ms",
        "serialize-response-object": "1.125s",
        "response-write": "625ms",
        "total": "1.5s",
    }


@pytest.mark.parametrize(
    ("groups", "parent", "baggage"),
    [((), "", None), ((), PARENT, None), ((MASTERS,), "", "tenant=blue"), ((MASTERS,), PARENT, "tenant=blue")],
)
async def test_baggage_is_passed_on_for_privileged_users_alone(
    groups: tuple[str, ...], parent: str, baggage: str | None
) -> None:
    clock, passed_on = ManualClock(), []
    tracer = Tracer(clock, no_end, exports=True, rate=1_000_000)

    def authenticated(handler: Handler) -> Handler:
        async def known(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            passed_on.append(storage_tracing.current().headers.get("baggage"))
            return await handler(request, replace(context, user=UserInfo(name="jane", groups=groups)))

        return known

    async def handler(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        passed_on.append(storage_tracing.current().headers.get("baggage"))
        return responses.text(context, "ok")

    filters = (
        with_request_info,
        partial(tracing.with_first_span, name="authentication", tracer=tracer),
        authenticated,
        partial(tracing.with_request_span, tracer=tracer),
    )
    async with listening(handler, *filters, clock=clock) as listener:
        await ask(listener.port, "/x", headers={"baggage": "tenant=blue", "traceparent": parent})

    assert passed_on == [None, baggage]
