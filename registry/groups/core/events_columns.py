"""The smaller kinds of the core group, and events."""

from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import ages, formats
from aio_apiserver.registry.machinery.printing.columns import (
    AGE,
    NAME,
    Cell,
    Column,
    Columns,
    count,
    table_of,
    text,
    value,
)
from aio_apiserver.storage.stored_object import Object

CONFIG_MAPS = table_of(
    NAME,
    (Column(name="Data", field="core.v1.ConfigMap.data"), count("data", "binaryData")),
    AGE,
)


def _health(member: str) -> Cell:
    """What the condition of health says."""

    def cell(status: Object, _now: float) -> str:
        found: Object = next((one for one in status.get("conditions") or () if one.get("type") == "Healthy"), {})
        if member != "status":
            return str(found.get(member) or "")
        return {None: "Unknown", "True": "Healthy"}.get(found.get(member), "Unhealthy")

    return cell


COMPONENT_STATUSES = table_of(
    NAME,
    (Column(name="Status", text="Status of the component conditions"), _health("status")),
    (Column(name="Message", text="Message of the component conditions"), _health("message")),
    (Column(name="Error", text="Error of the component conditions"), _health("error")),
)
SECRETS = table_of(
    NAME,
    (Column(name="Type", field="core.v1.Secret.type"), value("type")),
    (Column(name="Data", field="core.v1.Secret.data"), count("data")),
    AGE,
)
NAMESPACES = table_of(NAME, (Column(name="Status", text="The status of the namespace"), value("status.phase")), AGE)
POD_TEMPLATES = table_of(
    NAME,
    (
        Column(name="Containers", text="Names of each container in the template."),
        formats.joined("template.spec.containers", "name"),
    ),
    (
        Column(name="Images", text="Images referenced by each container in the template."),
        formats.joined("template.spec.containers", "image"),
    ),
    (Column(name="Pod Labels", text="The labels for the pod template."), formats.labels("template.metadata.labels")),
)


def _hard(is_limit: bool) -> Any:
    """What is used of the hard limits, of those whose names begin with `limits.` or of the others."""

    def cell(quota: Object, _now: float) -> str:
        hard, used = objects.get(quota, "status.hard", {}), objects.get(quota, "status.used", {})
        names = [name for name in sorted(hard) if name.startswith("limits.") is is_limit]
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return cell


RESOURCE_QUOTAS = table_of(
    NAME,
    (
        Column(
            name="Request",
            text="Request represents a minimum amount of cpu/memory that a container may consume.",
        ),
        _hard(is_limit=False),
    ),
    (
        Column(
            name="Limit",
            text="Limits control the maximum amount of cpu/memory that a container may use independent of contention "
            "on the node.",
        ),
        _hard(is_limit=True),
    ),
    AGE,
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


EVENTS: Columns = table_of(
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
