"""gates_in_use: the feature gates that have an effect on this server.

Each is named where it has its effect: by a kind, by an admission plugin, or by the assembly of the server. All others
are accepted, and the log says that they have no effect.
"""

from collections.abc import Iterator, Sequence

from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.controlplane.admission_plugins import PLUGINS
from aio_apiserver.registry.controlplane.providers import PROVIDERS
from aio_apiserver.registry.generic.store.provider import KindsProvider

OF_ASSEMBLY = frozenset(
    {
        "AllowUnsafeMalformedObjectDeletion",
        "ComponentFlagz",
        "ComponentStatusz",
        "ConstrainedImpersonation",
        "RemoteRequestHeaderUID",
        "SizeBasedListCostEstimate",
    }
)
"""The gates that the assembly of the server asks about."""


def names() -> frozenset[str]:
    """The names of all gates with an effect."""
    return frozenset({*OF_ASSEMBLY, *_of_plugins(), *_of_kinds()})


def without_effect(minor: Minor) -> Sequence[str]:
    """The gates that --feature-gates changes without an effect."""
    in_use = names()
    return [name for name in minor.gates.changed if name not in in_use]


def _of_plugins() -> Iterator[str]:
    return (row.gate for row in PLUGINS if row.gate)


def _of_kinds() -> Iterator[str]:
    """The gates of fields, and of other facts of kinds. A gate of one minor has its name before the `@`."""
    for provider in PROVIDERS:
        for kind in provider.kinds if isinstance(provider, KindsProvider) else ():
            yield from (gate.partition("@")[0] for gate in kind.gated.values())
            yield from (change.gate for change in kind.history if change.gate)
