"""priority_classes: creates the system PriorityClasses, system-cluster-critical and system-node-critical."""

from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.groups.scheduling.priorityclasses import PRIORITYCLASSES

_PLACE = ResourcePath(PRIORITYCLASSES.group, "v1", PRIORITYCLASSES.plural)
_CLASSES = (
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
)


async def ensure(client: OwnClient) -> None:
    """Create the missing ones."""
    for name, value, description in _CLASSES:
        await client.create_missing(
            _PLACE,
            {
                "metadata": {"name": name},
                "value": value,
                "description": description,
                "preemptionPolicy": "PreemptLowerPriority",
            },
        )
