"""Provider: the kinds of the group events.k8s.io.

The newer shape renames shared fields, and has the fields of the older shape as `deprecated*`.
"""

from collections.abc import Mapping

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.core.events import events_columns
from aio_apiserver.registry.groups.core.events.events import EVENTS, INVOLVED, EventStrategy
from aio_apiserver.registry.machinery.view import Conversion

_TO_CORE: Mapping[str, str] = {
    "note": "message",
    "regarding": "involvedObject",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_FROM_CORE = {core: newer for newer, core in _TO_CORE.items()}


def _renamed(obj: Object, names: Mapping[str, str]) -> Object:
    return {names.get(name, name): value for name, value in obj.items()}


CONVERSION = Conversion(
    to_hub=lambda obj: _renamed(obj, _TO_CORE),
    from_hub=lambda obj: _renamed(obj, _FROM_CORE),
)


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
