"""Remote versions: the discovery and OpenAPI documents of versions that aggregated servers answer.

Plain data: aggregation/remote_discovery.py fills it, discovery and OpenAPI read it. Must hold: `generation` changes
with each change of the data.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

Document = dict[str, Any]


class RemoteVersion(Struct, frozen=True):
    """A version of a group. discovery: its entry in aggregated discovery."""

    group: str
    version: str
    group_priority: int
    version_priority: int
    discovery: Document


class RemoteVersions:
    """All versions. openapi2: their version 2 documents; openapi3: the addresses of version 3 documents by path."""

    def __init__(self) -> None:
        self.generation = 0
        self.by_version: Mapping[tuple[str, str], RemoteVersion] = {}
        self.openapi2: Mapping[tuple[str, str], Document] = {}
        self.openapi3: Mapping[str, str] = {}

    def publish(
        self,
        versions: Mapping[tuple[str, str], RemoteVersion],
        openapi2: Mapping[tuple[str, str], Document],
        openapi3: Mapping[str, str],
    ) -> None:
        """Replace the data."""
        if (versions, openapi2, openapi3) == (self.by_version, self.openapi2, self.openapi3):
            return
        self.by_version, self.openapi2, self.openapi3 = versions, openapi2, openapi3
        self.generation += 1
