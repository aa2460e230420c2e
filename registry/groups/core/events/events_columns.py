"""events_columns: the columns of an Event: when and how often a component reported it, and about which object."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import ages
from aio_apiserver.registry.machinery.printing.columns import (
    Column,
    table_of,
    text,
    value,
)


def _first_seen(event: Object, now: float) -> str:
    return ages.since(event.get("firstTimestamp") or event.get("eventTime"), now)


def _last_seen(event: Object, now: float) -> str:
    if event.get("series") is not None:
        return ages.since(objects.get(event, "series.lastObservedTime"), now)
    last = event.get("lastTimestamp")
    return ages.since(last, now) if last else _first_seen(event, now)


def _times(event: Object, _now: float) -> int:
    if event.get("series") is not None:
        return int(objects.get(event, "series.count", 0))
    return event.get("count") or 1


def _target(event: Object, _now: float) -> str:
    kind, name = objects.get(event, "involvedObject.kind", "").lower(), objects.get(event, "involvedObject.name")
    return f"{kind}/{name}" if name else kind


def _source(event: Object, _now: float) -> str:
    component = objects.get(event, "source.component") or event.get("reportingComponent", "")
    instance = objects.get(event, "source.host") or event.get("reportingInstance", "")
    return f"{component}, {instance}" if instance else component


COLUMNS = table_of(
    (Column(name="Last Seen", field="core.v1.Event.lastTimestamp"), _last_seen),
    (Column(name="Type", field="core.v1.Event.type"), value("type")),
    (Column(name="Reason", field="core.v1.Event.reason"), value("reason")),
    (Column(name="Object", field="core.v1.Event.involvedObject"), _target),
    (
        Column(name="Subobject", field="core.v1.ObjectReference.fieldPath", priority=1),
        value("involvedObject.fieldPath"),
    ),
    (Column(name="Source", field="core.v1.Event.source", priority=1), _source),
    (
        Column(name="Message", field="core.v1.Event.message"),
        lambda event, _now: (event.get("message") or "").strip(),
    ),
    (Column(name="First Seen", field="core.v1.Event.firstTimestamp", priority=1), _first_seen),
    (Column(name="Count", field="core.v1.Event.count", priority=1), _times),
    (Column(name="Name", format="name", field="meta.v1.ObjectMeta.name", priority=1), text("metadata.name")),
)
