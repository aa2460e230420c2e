"""Events: reports of components about objects, kept for one hour.

Both API groups serve the same objects. events.k8s.io has further rules and allows changes to `series` alone. An event
with `eventTime` has the newer shape in both groups.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.fields import first, text
from aio_apiserver.registry.base.validation import field, internal, names, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import GarbageCollection, Strategy, StrategyContext
from aio_apiserver.registry.groups.core.events import events_columns

_TYPES = ("Normal", "Warning")
_OTHER_NAMESPACE = "does not match event.namespace"
_REQUIRED = (("reportingInstance", 128), ("action", 128), ("reason", 128))
"""The required fields of an event of the newer shape, each with its maximum length."""
_LONGEST_MESSAGE = 1024
_OLD_FIELDS = ("firstTimestamp", "lastTimestamp", "count")
_STRUCTS = {"involvedObject": "core.ObjectReference", "source": "core.EventSource", "related": "core.ObjectReference"}
_ABSENT: Mapping[str, Any] = {"firstTimestamp": None, "lastTimestamp": None, "count": 0, "eventTime": None}
_FROZEN = (
    "involvedObject reason message source firstTimestamp lastTimestamp count reason type eventTime action related "
    "reportingComponent reportingInstance"
).split()


class EventStrategy(Strategy, frozen=True, kw_only=True):
    """`is_strict` adds the rules of events.k8s.io to those for all events."""

    allows_create_on_update: bool = True
    garbage_collection: GarbageCollection = GarbageCollection.UNSUPPORTED
    looks_at_metadata: bool = False
    is_strict: bool = False

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = self._validate_all(obj)
        return errors + _validate_strictly(obj) if self.is_strict else errors

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = self._validate_all(new)
        if not self.is_strict:
            return errors
        errors += super().validate_update(context, new, old)
        if new.get("series") != old.get("series"):
            errors += _validate_series(new)
        return errors + _validate_frozen(new, old)

    def _validate_all(self, obj: Object) -> list[FieldError]:
        controller = "reportingController" if self.is_strict else "reportingComponent"
        errors = _validate_new_shape(obj, controller) if obj.get("eventTime") else _validate_old_shape(obj)
        namespace = obj["metadata"].get("namespace", "")
        messages = names.is_dns_subdomain(namespace, False)
        return errors + field.invalid_each("namespace", namespace, messages)


def _namespaces(obj: Object) -> tuple[str, str]:
    """The namespace of the event, and of the object that it involves."""
    return obj["metadata"].get("namespace", ""), (obj.get("involvedObject") or {}).get("namespace", "")


def _validate_old_shape(obj: Object) -> list[FieldError]:
    namespace, involved = _namespaces(obj)
    is_right = namespace == involved if involved else namespace in {"", "default"}
    return [] if is_right else [field.invalid("involvedObject.namespace", involved, _OTHER_NAMESPACE)]


def _validate_new_shape(obj: Object, controller: str) -> list[FieldError]:
    namespace, involved = _namespaces(obj)
    errors = []
    if not involved and namespace not in {"default", "kube-system"}:
        errors.append(field.invalid("involvedObject.namespace", involved, _OTHER_NAMESPACE))
    reporting = obj.get("reportingComponent", "")
    if not reporting:
        errors.append(field.required(controller))
    errors += field.invalid_each(controller, reporting, names.check_qualified_name(reporting))
    for name, limit in _REQUIRED:
        if not obj.get(name):
            errors.append(field.required(name))
        errors += _validate_length(obj, name, limit)
    return errors + _validate_length(obj, "message", _LONGEST_MESSAGE)


def _validate_length(obj: Object, name: str, limit: int) -> list[FieldError]:
    is_long = len(obj.get(name, "").encode()) > limit
    return [field.invalid(name, "", f"can have at most {limit} characters")] if is_long else []


def _validate_strictly(obj: Object) -> list[FieldError]:
    metadata, event_type = obj["metadata"], obj.get("type", "")
    errors = object_meta.validate(metadata, is_namespaced=True, check_name=names.is_dns_subdomain)
    errors += object_meta.validate_builtin_finalizers(metadata.get("finalizers") or ())
    errors += _validate_series(obj)
    if not obj.get("eventTime"):
        errors.append(field.required("eventTime"))
    if event_type not in _TYPES:
        errors.append(field.invalid("type", "", f"has invalid value: {event_type}"))
    unset = [one for one in _OLD_FIELDS if obj.get(one)]
    if any((obj.get("source") or {}).values()):
        unset.append("source")
    return errors + [field.invalid(one, "", "needs to be unset") for one in unset]


def _validate_series(obj: Object) -> list[FieldError]:
    series = obj.get("series")
    if series is None:
        return []
    errors = []
    if series.get("count", 0) < 2:
        errors.append(field.invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        errors.append(field.required("series.lastObservedTime"))
    return errors


def _validate_frozen(new: Object, old: Object) -> list[FieldError]:
    return [
        field.invalid(_path(name), shown, object_meta.IMMUTABLE)
        for name in _FROZEN
        if (shown := _printed(new, name)) != _printed(old, name)
    ]


def _path(name: str) -> str:
    return "reportingController" if name == "reportingComponent" else name


def _printed(obj: Object, name: str) -> Any:
    value = obj.get(name)
    if name in _STRUCTS:
        return internal.form(_STRUCTS[name], {} if value is None and name != "related" else value)
    return value or _ABSENT.get(name, "")


INVOLVED: Sequence[str] = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
"""The members of involvedObject that a field selector can name."""

EVENTS = Kind(
    group="",
    plural="events",
    kind="Event",
    short_names=("ev",),
    strategy=EventStrategy(),
    fields={
        **{f"involvedObject.{name}": text(f"involvedObject.{name}") for name in INVOLVED},
        "reason": text("reason"),
        "reportingComponent": text("reportingComponent"),
        "source": first("source.component", "reportingComponent"),
        "type": text("type"),
    },
    expires=True,
    is_cached=False,
    columns=events_columns.COLUMNS,
)
