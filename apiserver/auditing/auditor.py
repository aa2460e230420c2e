"""Auditor: creates the audit trail of each recorded request, and passes its events to the backend."""

from aiohttp import web

from aio_apiserver.apiserver.access.attributes import attributes_of
from aio_apiserver.apiserver.auditing.backends import Backend
from aio_apiserver.apiserver.metrics.audit import AuditMetrics
from aio_apiserver.apiserver.wire import request_sources
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.audit.levels import Level
from aio_apiserver.registry.generic.audit.policy import Policy
from aio_apiserver.registry.generic.audit.trail import Event, Trail


class Auditor:
    """The auditor of one server."""

    def __init__(self, policy: Policy, backend: Backend, metrics: AuditMetrics, clock: Clock) -> None:
        self._policy = policy
        self._backend = backend
        self.metrics = metrics
        self.clock = clock

    def begin(self, request: web.BaseRequest, context: RequestContext, user: UserInfo) -> Trail | None:
        """The trail of a request; None when the policy does not record it."""
        info = context.info
        recording = self._policy.recording_of(attributes_of(user, info, context.query))
        self.metrics.decided(recording.level)
        if recording.level is Level.NONE:
            return None
        reference = {
            "resource": info.resource,
            "namespace": info.namespace,
            "name": info.name,
            "apiGroup": info.group,
            "apiVersion": info.version,
            "subresource": info.subresource,
        }
        return Trail(
            recording=recording,
            tell=self._tell,
            clock=self.clock,
            audit_id=context.audit_id,
            uri=request.raw_path,
            verb=info.verb,
            user=user,
            source_ips=list(request_sources.addresses(request)),
            user_agent=request_sources.user_agent(request),
            received=self.clock.now() - (self.clock.patience.monotonic() - context.received),
            is_long_running=info.is_long_running,
            reference=reference if info.is_resource else None,
            annotations=dict(context.notes),
        )

    async def _tell(self, event: Event) -> bool:
        self.metrics.sent()
        return await self._backend.process([event])
