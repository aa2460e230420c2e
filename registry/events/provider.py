"""The events.k8s.io group: core events in another shape."""

from registry.core.provider import EVENT_TTL_SECONDS, EVENTS
from registry.events.conversion import CONVERSION
from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import GarbageCollection, Strategy

GROUP = "events.k8s.io"

_REGARDING = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")

KINDS = (
    Kind(
        group=GROUP,
        plural="events",
        kind="Event",
        short_names=("ev",),
        strategy=Strategy(allows_create_on_update=True, garbage_collection=GarbageCollection.UNSUPPORTED),
        field_aliases={
            "reason": "reason",
            "type": "type",
            "reportingController": "reportingComponent",
            **{f"regarding.{name}": f"involvedObject.{name}" for name in _REGARDING},
        },
        ttl_seconds=EVENT_TTL_SECONDS,
        conversions={"v1": CONVERSION},
        stored_as=EVENTS,
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
