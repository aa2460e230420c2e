"""Aggregated: how parts of the server ask the servers behind APIServices, as a controller does for metrics.

Knows no HTTP client and no TLS. The server hands its gateway down.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from aio_apiserver.registry.generic.access.users import UserInfo


class RemoteAnswer(Struct, frozen=True):
    """The status code and the body of an answer."""

    status: int
    body: bytes


class AggregatedServers(Protocol):
    """The servers of all APIServices that name a service."""

    def versions_of(self, group: str) -> Sequence[str]:
        """The versions of a group that such servers have, the preferred one first."""
        ...

    async def ask(self, user: UserInfo, group: str, version: str, path: str) -> RemoteAnswer:
        """The answer to GET for a path below a version. A server that does not answer counts as a 503."""
        ...
