"""Provider: the kinds of the group events.k8s.io."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.core.events import events_columns
from aio_apiserver.registry.groups.core.events.events import EVENTS, INVOLVED, EventStrategy
from aio_apiserver.registry.groups.events.conversion import CONVERSION

GROUP = "events.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="events",
        kind="Event",
        short_names=("ev",),
        strategy=EventStrategy(is_strict=True),
        field_aliases={
            "reason": "reason",
            "type": "type",
            "reportingController": "reportingComponent",
            **{f"regarding.{name}": f"involvedObject.{name}" for name in INVOLVED},
        },
        expires=True,
        is_cached=False,
        conversions={"v1": CONVERSION},
        columns=events_columns.COLUMNS,
        stored_as=EVENTS,
    ),
)

PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=17750), kinds=KINDS)
