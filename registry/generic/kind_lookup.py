"""kind_lookup: the contract to find the resources of a kind by apiVersion and kind, as references name it.

The list of all kinds stands above the API groups: controlplane/kind_mapping.py implements this contract, and assembly
hands it down.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from aio_apiserver.storage.interface import Resource


class ServedKind(NamedTuple):
    """A resource in one version. `stored`: the facts that open its storage; None for a custom resource, whose storage
    is open while its definition is served.
    """

    group: str
    version: str
    plural: str
    is_namespaced: bool
    stored: Resource | None = None


class KindLookup(Protocol):
    """Finds the resources of built-in kinds and of established custom ones."""

    async def resources(self, api_version: str, kind: str) -> Sequence[ServedKind]:
        """The resources of the kind in that version; empty when none serves it. Raises StatusError."""
        ...


class NoKinds:
    """The lookup of a server without kinds."""

    async def resources(self, api_version: str, kind: str) -> Sequence[ServedKind]:
        return ()
