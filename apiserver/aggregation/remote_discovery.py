"""Remote discovery: asks aggregated servers for their discovery and OpenAPI documents, after each change of an
APIService and once a minute.

Must hold: a server that does not answer is asked again, with growing pauses, and its last known versions are served as
stale. Aggregated discovery asks a server once for all its versions; entries of versions without a registration are
ignored.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeVar

from aio_apiserver.apiserver.aggregation import documents
from aio_apiserver.apiserver.aggregation.documents import UnreadableDocument
from aio_apiserver.apiserver.aggregation.remote_servers import RemoteServers, ServerDocument
from aio_apiserver.apiserver.endpoints.remote_versions import Document, RemoteVersion, RemoteVersions
from aio_apiserver.apiserver.outgoing.relay_client import Unreachable
from aio_apiserver.base import worker_thread
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.groups.apiregistration.registrations import Registration, Registrations

logger = logging.getLogger(__name__)

_INTERVAL = 60.0
_OK = 200
_FIRST_PAUSE = 0.5
_OPENAPI_SECONDS = 60.0
_LARGE_AT_ONCE = 4
_JSON = {"Accept": "application/json"}
_AGGREGATED = {
    "Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
}

Service = tuple[str, str, int]
T = TypeVar("T")


class Explorer:
    """Explores the aggregated servers of one API server."""

    def __init__(
        self, registrations: Registrations, servers: RemoteServers, known: RemoteVersions, patience: Clock
    ) -> None:
        self._registrations = registrations
        self._servers = servers
        self._known = known
        self._patience = patience
        self._changed = asyncio.Event()
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)
        """Limits the memory for OpenAPI documents that have not been read yet."""

    def look_again(self) -> None:
        """Explore again: an APIService has changed."""
        self._changed.set()

    async def run(self) -> None:
        """Explore until it is cancelled."""
        pause = _FIRST_PAUSE
        while True:
            self._changed.clear()
            pause = _INTERVAL if await self._explore() else min(2 * pause, _INTERVAL)
            if await self._is_changed_within(pause):
                pause = _FIRST_PAUSE

    async def _explore(self) -> bool:
        """Ask all servers. Returns whether all have answered."""
        registrations = list(self._registrations.by_version.values())
        self._announce(registrations)
        found = await asyncio.gather(*(self._explore_service(group) for group in _by_service(registrations)))
        discovered = {version: document for one in found for version, document in one.items()}
        specs = await asyncio.gather(*(self._openapi2(one) for one in registrations))
        addresses = await asyncio.gather(*(self._openapi3(one) for one in registrations))
        self._known.publish(
            {(one.group, one.version): self._version(one, discovered) for one in registrations},
            {(one.group, one.version): spec for one, spec in zip(registrations, specs, strict=True) if spec},
            {
                one.root.removeprefix("/"): address
                for one, address in zip(registrations, addresses, strict=True)
                if address
            },
        )
        return all((one.group, one.version) in discovered for one in registrations)

    def _announce(self, registrations: Iterable[Registration]) -> None:
        """Publish new and removed versions at once, before their servers have answered."""
        known = self._known
        versions = {
            (one.group, one.version): known.by_version.get((one.group, one.version)) or self._version(one, {})
            for one in registrations
        }
        known.publish(versions, known.openapi2, known.openapi3)

    def _version(self, one: Registration, discovered: Mapping[tuple[str, str], Document]) -> RemoteVersion:
        key = (one.group, one.version)
        document = discovered.get(key)
        if document is not None:
            entry = {**document, "freshness": "Current"}
        else:
            known = self._known.by_version.get(key)
            entry = {**(known.discovery if known is not None else {"version": one.version}), "freshness": "Stale"}
        return RemoteVersion(one.group, one.version, one.group_priority, one.version_priority, entry)

    async def _explore_service(self, group: list[Registration]) -> Mapping[tuple[str, str], Document]:
        """The entries of all versions of one server."""
        available = [one for one in group if one.is_available]
        if not available:
            return {}
        try:
            answer = await self._servers.request(available[0], "/apis", headers=_AGGREGATED)
            if answer.status == _OK and documents.is_aggregated(answer.headers.get("Content-Type", "")):
                entries = await _read(partial(documents.versions_of_list, answer.body), answer, available[0])
                return {
                    (one.group, one.version): entries.get((one.group, one.version), {"version": one.version})
                    for one in available
                }
            plain = await asyncio.gather(*(self._plain(one) for one in available))
        except (Unreachable, UnreadableDocument) as exc:
            logger.info("cannot discover what %s serves: %s", available[0].name, exc)
            return {}
        return {(one.group, one.version): found for one, found in zip(available, plain, strict=True) if found}

    async def _plain(self, one: Registration) -> Document | None:
        """The entry of a version from a server without aggregated discovery."""
        answer = await self._servers.request(one, one.root, headers=_JSON)
        if answer.status != _OK:
            return None
        return await _read(partial(documents.version_of_resources, answer.body, one.version), answer, one)

    async def _openapi2(self, one: Registration) -> Document | None:
        if not one.is_available:
            return self._known.openapi2.get((one.group, one.version))
        try:
            async with self._large:
                answer = await self._servers.request(one, "/openapi/v2", headers=_JSON, seconds=_OPENAPI_SECONDS)
                if answer.status != _OK:
                    return None
                return await _read(partial(documents.openapi2, answer.body, one.root), answer, one)
        except (Unreachable, UnreadableDocument) as exc:
            logger.info("no OpenAPI of %s: %s", one.name, exc)
            return None

    async def _openapi3(self, one: Registration) -> str:
        path = one.root.removeprefix("/")
        if not one.is_available:
            return self._known.openapi3.get(path, "")
        try:
            async with self._large:
                answer = await self._servers.request(one, "/openapi/v3", headers=_JSON, seconds=_OPENAPI_SECONDS)
                if answer.status != _OK:
                    return ""
                return await _read(partial(documents.openapi3_address, answer.body, path), answer, one)
        except (Unreachable, UnreadableDocument):
            return ""

    async def _is_changed_within(self, seconds: float) -> bool:
        waiting = asyncio.ensure_future(self._changed.wait())
        sleeping = asyncio.ensure_future(self._patience.sleep(seconds))
        try:
            await asyncio.wait((waiting, sleeping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in (waiting, sleeping):
                one.cancel()
            await asyncio.gather(waiting, sleeping, return_exceptions=True)
        return self._changed.is_set()


async def _read(read: Callable[[], T], answer: ServerDocument, one: Registration) -> T:
    """What a document says. A long one is read in the worker thread, where each server has its share."""
    return await worker_thread.run_sized(read, len(answer.body), f"server {one.host}")


def _by_service(registrations: Iterable[Registration]) -> Iterable[list[Registration]]:
    found: dict[Service, list[Registration]] = {}
    for one in registrations:
        found.setdefault((one.namespace, one.service, one.port), []).append(one)
    return found.values()
