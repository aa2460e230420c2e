"""Remote versions: what is known of the versions of API groups that other servers answer, for those who tell of it.

Plain data; who finds it out is none of this file's business. Must hold: `generation` changes whenever something else is
known.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

Document = dict[str, Any]


class RemoteVersion(Struct, frozen=True):
    """A version of a group. discovery: what aggregated discovery tells of it."""

    group: str
    version: str
    group_priority: int
    version_priority: int
    discovery: Document


class RemoteVersions:
    """All that are known. openapi2: their documents of version 2; openapi3: where those of version 3 are, by path."""

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
        """Tell of these from now on."""
        if (versions, openapi2, openapi3) == (self.by_version, self.openapi2, self.openapi3):
            return
        self.by_version, self.openapi2, self.openapi3 = versions, openapi2, openapi3
        self.generation += 1
