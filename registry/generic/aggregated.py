"""Aggregated: how controllers ask the servers behind APIServices, for metrics and for the contents of namespaces.

Knows no HTTP client and no TLS. The server hands its gateway down.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from aio_apiserver.registry.generic.access.users import UserInfo


class RemoteAnswer(Struct, frozen=True):
    """The status code and the body of an answer."""

    status: int
    body: bytes


class DiscoveredVersion(Struct, frozen=True):
    """A version of a group as discovery knows it. resources: its entries in aggregated discovery.

    A version is not current while its server does not answer.
    """

    group: str
    version: str
    is_current: bool
    resources: Sequence[Mapping[str, Any]]


class AggregatedServers(Protocol):
    """The servers of all APIServices that name a service."""

    def versions_of(self, group: str) -> Sequence[str]:
        """The versions of a group that such servers have, the preferred one first."""
        ...

    def discovered(self) -> Sequence[DiscoveredVersion]:
        """All versions of such servers, the preferred one of a group first."""
        ...

    async def ask(self, user: UserInfo, group: str, version: str, path: str, *, method: str = "GET") -> RemoteAnswer:
        """The answer for a path below a version. A server that does not answer counts as a 503."""
        ...
