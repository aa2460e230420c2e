"""kind_lookup: Which resources serve a kind, as references to objects name it (apiVersion and kind). The contract.

The list of all kinds stands above the API groups: controlplane/kind_mapping.py fulfils this contract, and assembly
hands it down.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class ServedKind(NamedTuple):
    """A resource in one version."""

    group: str
    version: str
    plural: str
    is_namespaced: bool
    is_custom: bool = False


class KindLookup(Protocol):
    """Finds the resources of built-in kinds and of established custom ones."""

    async def resources(self, api_version: str, kind: str) -> Sequence[ServedKind]:
        """What serves the kind in that version; nothing when no resource does. Raises StatusError."""
        ...


class NoKinds:
    """A server without kinds."""

    async def resources(self, api_version: str, kind: str) -> Sequence[ServedKind]:
        return ()
