"""Gateway: sends requests for versions of aggregated servers to them, and all others to the handlers of this server.

Controllers ask those servers through it, too.

Most servers have no APIServices of that sort. So the proxy is imported, and its connections are opened, with the first
one.

Must hold: while no APIService names another server, a request costs one test of an empty mapping.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aiohttp import web

from aio_apiserver.apiserver.aggregation.proxy_certificate import ProxyCertificate
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.endpoints.remote_versions import RemoteVersions
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.aggregated import DiscoveredVersion, RemoteAnswer
from aio_apiserver.registry.groups.apiregistration.registrations import Registration, Registrations
from aio_apiserver.registry.groups.apiregistration.service_resolver import Resolver

if TYPE_CHECKING:
    from aio_apiserver.apiserver.aggregation.remote_discovery import Explorer
    from aio_apiserver.apiserver.aggregation.remote_servers import RemoteServers

_OPENAPI3 = "/openapi/v3/"
_NO_SUCH_VERSION = RemoteAnswer(404, b"404 page not found\n")


class Gateway:
    """The gateway of one server. forwards_uid: whether the uid of a user is forwarded."""

    def __init__(
        self,
        settings: Settings,
        registrations: Registrations,
        resolver: Resolver,
        patience: Clock,
        *,
        forwards_uid: bool,
    ) -> None:
        """Raises OSError, ValueError when the proxy client certificate is not valid."""
        self.certificate = ProxyCertificate(settings)
        self.versions = RemoteVersions()
        self._settings = settings
        self._registrations = registrations
        self._resolver = resolver
        self._patience = patience
        self._tells_uid = forwards_uid
        self._tasks = Tasks()
        self._opened: RemoteServers | None = None
        self._explorer: Explorer | None = None
        registrations.subscribe(self._note_change)

    async def close(self) -> None:
        """Stop exploring, and close every connection."""
        await self._tasks.close()
        if self._opened is not None:
            await self._opened.close()

    async def check(self, registration: Registration) -> str:
        """The problem of a server; empty when it is available."""
        return await self._servers.check(registration)

    def versions_of(self, group: str) -> Sequence[str]:
        """The versions of a group that APIServices with a service name, the preferred one first."""
        found = [one for one in self._registrations.by_version.values() if one.group == group]
        return [one.version for one in sorted(found, key=lambda one: -one.version_priority)]

    def discovered(self) -> Sequence[DiscoveredVersion]:
        """The versions of all APIServices with a service, the preferred one of a group first."""
        known = self.versions.by_version
        found = sorted(self._registrations.by_version.items(), key=lambda one: -one[1].version_priority)
        documents = [(group, version, known.get((group, version))) for (group, version), _ in found]
        return [_discovered(group, version, one.discovery if one else {}) for group, version, one in documents]

    async def ask(self, user: UserInfo, group: str, version: str, path: str, *, method: str = "GET") -> RemoteAnswer:
        """The answer to a controller. Without such a version it is 404, without an answer 503."""
        registration = self._registrations.by_version.get((group, version))
        if registration is None:
            return _NO_SUCH_VERSION
        from aio_apiserver.apiserver.aggregation import proxy

        return await proxy.ask(user, registration, self._servers, method, path, forwards_uid=self._tells_uid)

    def before(self, handler: Handler) -> Handler:
        """The handler of paths below /apis/: forwards requests for versions of APIServices, and calls `handler` for
        others.
        """
        registrations = self._registrations

        async def dispatched(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            if not registrations.by_version:
                return await handler(request, context)
            _, _, group, version, *_ = (*context.path.split("/", 4), "", "")
            return await self._pass_on(request, context, (group, version), handler)

        return dispatched

    def before_openapi(self, handler: Handler) -> Handler:
        """The same for OpenAPI version 3 documents."""

        async def dispatched(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            path = context.path.removeprefix(_OPENAPI3)
            if path not in self.versions.openapi3:
                return await handler(request, context)
            _, group, version = path.split("/", 2)
            return await self._pass_on(request, context, (group, version), handler)

        return dispatched

    async def _pass_on(
        self, request: web.BaseRequest, context: RequestContext, version: tuple[str, str], otherwise: Handler
    ) -> web.StreamResponse:
        registration = self._registrations.by_version.get(version)
        if registration is None:
            return await otherwise(request, context)
        from aio_apiserver.apiserver.aggregation import proxy

        return await proxy.pass_on(request, context, registration, self._servers, forwards_uid=self._tells_uid)

    @property
    def _servers(self) -> "RemoteServers":
        if self._opened is None:
            from aio_apiserver.apiserver.aggregation.remote_servers import RemoteServers

            self._opened = RemoteServers(self._settings, self._resolver, self.certificate)
        return self._opened

    def _note_change(self) -> None:
        if self._explorer is None and self._registrations.by_version:
            from aio_apiserver.apiserver.aggregation.remote_discovery import Explorer

            self._explorer = Explorer(self._registrations, self._servers, self.versions, self._patience)
            self._tasks.spawn(self._explorer.run(), name="explore remote servers")
        elif self._explorer is not None:
            self._explorer.look_again()


def _discovered(group: str, version: str, document: Mapping[str, Any]) -> DiscoveredVersion:
    is_current = document.get("freshness") == "Current"
    return DiscoveredVersion(group, version, is_current, document.get("resources") or ())
