"""Events: makes Event objects, and correlates repeated ones as client-go's recorder.

Pure. A repeated event increases the count of the first one. Of more than ten events within ten minutes that differ in
their message alone, the later ones become one. Above a rate limit for each object, events are dropped.

Must hold: the names of events differ, also when the clock stands still. The memory of the correlator is bounded.
"""

import itertools
from collections import OrderedDict
from datetime import UTC, datetime
from typing import Generic, TypeVar

from msgspec import Struct, structs

from aio_apiserver.base.unstructured import Object

NORMAL, WARNING = "Normal", "Warning"
_MOST_SIMILAR = 10
_SIMILAR_SECONDS = 600.0
_COMBINED = "(combined from similar events): "
_BURST = 25.0
_REFILL_SECONDS = 300.0
_MOST_REMEMBERED = 4096
_LONGEST_NAME = 236
"""The name with a number of sixteen digits behind it must fit into the limit for names."""

_numbers = itertools.count()

V = TypeVar("V")


def reference(obj: Object, api_version: str, kind: str, field_path: str = "") -> Object:
    """The reference to the object of an event."""
    metadata = obj["metadata"]
    about = {"apiVersion": api_version, "kind": kind, "name": metadata["name"], "uid": metadata["uid"]}
    about["resourceVersion"] = metadata.get("resourceVersion", "")
    if metadata.get("namespace"):
        about["namespace"] = metadata["namespace"]
    if field_path:
        about["fieldPath"] = field_path
    return about


class EventReport(Struct, frozen=True, kw_only=True):
    """An event before correlation. `action`: for series of events.k8s.io; `host`: the node that reports it."""

    about: Object
    type: str
    reason: str
    message: str
    component: str
    host: str = ""
    action: str = ""


def make(report: EventReport, *, now: float) -> Object:
    """The Event object for the first occurrence."""
    namespace = report.about.get("namespace") or "default"
    event = {
        "metadata": {"name": _name(report.about["name"], now), "namespace": namespace},
        "involvedObject": report.about,
        "type": report.type,
        "reason": report.reason,
        "message": report.message,
        "reportingComponent": report.component,
        "reportingInstance": report.host,
    }
    if report.action:
        return {**event, "eventTime": _precise(now), "action": report.action, "source": {}}
    source = {"component": report.component, "host": report.host} if report.host else {"component": report.component}
    return {**event, "source": source, "firstTimestamp": _time(now), "lastTimestamp": _time(now), "count": 1}


def repeat(event: Object, report: EventReport, *, now: float) -> None:
    """Count one more occurrence in an Event object."""
    event["message"] = report.message
    if report.action:
        count = (event.get("series") or {}).get("count", 1)
        event["series"] = {"count": count + 1, "lastObservedTime": _precise(now)}
    else:
        event["count"] = int(event.get("count") or 1) + 1
        event["lastTimestamp"] = _time(now)


class Correlator:
    """The memory of one component's events."""

    def __init__(self) -> None:
        self._names: _Memory[str] = _Memory()
        self._texts: _Memory[tuple[float, set[str]]] = _Memory()
        self._budgets: _Memory[tuple[float, float]] = _Memory()

    def hear(self, report: EventReport, *, now: float) -> tuple[EventReport, str] | None:
        """The event to write, and the name of the earlier Event object, if any; None when the rate limit drops it."""
        if not self._has_budget(report, now):
            return None
        kind, text = _kind(report), report.message
        since, texts = self._texts.get(kind) or (now, set())
        if now - since > _SIMILAR_SECONDS:
            since, texts = now, set()
        texts = {*texts, text} if len(texts) <= _MOST_SIMILAR else texts
        self._texts.put(kind, (since, texts))
        if len(texts) > _MOST_SIMILAR:
            return structs.replace(report, message=_COMBINED + text), self._names.get((kind, "")) or ""
        return report, self._names.get((kind, text)) or ""

    def wrote(self, report: EventReport, name: str) -> None:
        """Remember the name of a written Event object."""
        self._names.put((_kind(report), "" if report.message.startswith(_COMBINED) else report.message), name)

    def _has_budget(self, report: EventReport, now: float) -> bool:
        key = report.about.get("uid"), report.about["name"]
        left, since = self._budgets.get(key) or (_BURST, now)
        left = min(_BURST, left + (now - since) / _REFILL_SECONDS)
        self._budgets.put(key, (left - 1 if left >= 1 else left, now))
        return left >= 1


class _Memory(Generic[V]):
    """A map of the newest entries."""

    def __init__(self) -> None:
        self._entries: OrderedDict[object, V] = OrderedDict()

    def get(self, key: object) -> V | None:
        return self._entries.get(key)

    def put(self, key: object, value: V) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > _MOST_REMEMBERED:
            self._entries.popitem(last=False)


def _kind(report: EventReport) -> tuple[object, ...]:
    """The parts that similar events share: all but the message."""
    about = tuple(sorted((name, value) for name, value in report.about.items() if name != "resourceVersion"))
    return about, report.type, report.reason


def _name(name: str, now: float) -> str:
    return f"{name[:_LONGEST_NAME]}.{int(now * 1e9) + next(_numbers):x}"


def _time(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _precise(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
