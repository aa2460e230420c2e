"""Trail: collects the facts of one audited request, and makes its audit events.

The audit filter begins it, the other filters and the handlers add to it, and it sends an event at each stage.

Must hold: no body is kept above the level of the request. A sent event does not change. The members of an event are in
kube-apiserver's order.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from msgspec import Struct, field

from aio_apiserver.base import tracing
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import durations, json_texts
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.impersonation import Impersonated
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.audit.levels import Level, Stage
from aio_apiserver.registry.generic.audit.policy import Recording

logger = logging.getLogger(__name__)

_LATENCY, _TOTAL, _SLOW_SECONDS = "apiserver.latency.k8s.io/", "total", 0.5

Event = Mapping[str, Any]
"""One event as a JSON object; its bodies are encoded JSON already."""
Tell = Callable[[Event], Awaitable[bool]]
"""Sends an event to the backends; returns whether that succeeded."""

_ALWAYS = frozenset({"requestURI", "verb", "user"})
_STATUS = ("Status", "v1")
_STATUS_MEMBERS = ("status", "message", "reason", "details", "code")


class Trail(Struct, kw_only=True):
    """The audit facts of one request."""

    recording: Recording
    tell: Tell
    clock: Clock
    audit_id: str
    uri: str
    verb: str
    user: UserInfo
    source_ips: list[str]
    user_agent: str
    received: float
    is_long_running: bool
    reference: dict[str, str] | None = None
    impersonated: Impersonated | None = None
    status: Object | None = None
    annotations: dict[str, str] = field(default_factory=dict)
    last_stage: Stage = Stage.RESPONSE_COMPLETE
    _request: orjson.Fragment | None = None
    _response: orjson.Fragment | None = None
    _has_started: bool = False
    _last_annotations: dict[str, str] = field(default_factory=dict)

    @property
    def level(self) -> Level:
        return self.recording.level

    @property
    def has_request(self) -> bool:
        """Whether the request body is recorded."""
        return self.level >= Level.REQUEST

    @property
    def has_response(self) -> bool:
        """Whether the response body is recorded, too."""
        return self.level >= Level.REQUEST_RESPONSE

    def annotate(self, key: str, value: str, level: Level = Level.METADATA) -> None:
        if self.level < level:
            return
        known = self.annotations.setdefault(key, value)
        if known != value:
            logger.warning("annotation %s of the request %s is set already", quote(key), quote(self.audit_id))

    def annotate_at_end(self, key: str, value: str) -> None:
        """Annotate the event of ResponseComplete alone, as kube-apiserver does when the handler has returned."""
        self._last_annotations[key] = value

    def refer(self, metadata: Mapping[str, Any]) -> None:
        """Complete the object reference of the request from a body's metadata."""
        if self.reference is None:
            return
        for name in ("namespace", "name", "uid", "resourceVersion"):
            if metadata.get(name) and not self.reference.get(name):
                self.reference[name] = metadata[name]

    def requested(self, value: Object) -> None:
        """Keep the object of the request, if request bodies are recorded."""
        if self.has_request:
            self._request = self._fragment(value)

    def patched(self, text: bytes) -> None:
        """Keep the patch of the request, if request bodies are recorded: as deep as the client has sent it."""
        if self.has_request:
            self._request = orjson.Fragment(json_texts.in_one_line(text))

    def answered(self, value: Object) -> None:
        """Keep the object of the response, if response bodies are recorded, and in any case the facts of a Status."""
        if (value.get("kind"), value.get("apiVersion")) == _STATUS:
            self.status = {name: value[name] for name in _STATUS_MEMBERS if name in value}
        if self.has_response:
            self._response = self._fragment(value)

    def coded(self, code: int) -> None:
        """Keep the response's HTTP code."""
        self.status = {**(self.status or {}), "code": code}

    def panicked(self) -> None:
        """Mark a request that failed by an internal error: its last stage is Panic."""
        self.last_stage = Stage.PANIC

    async def started(self, code: int) -> None:
        """Send ResponseStarted for a long-running request."""
        if self.is_long_running and not self._has_started:
            self._has_started = True
            self.coded(code)
            await self.reach(Stage.RESPONSE_STARTED)

    async def reach(self, stage: Stage) -> bool:
        """Send the event of a stage, unless the policy omits it."""
        if stage is Stage.RESPONSE_COMPLETE:
            self.annotations.update(self._last_annotations)
            self._note_latency()
        if stage in self.recording.omitted_stages:
            return True
        return await self.tell(self._event(stage))

    def _note_latency(self) -> None:
        """Annotate a slow request with its durations. A watch is not slow, but long."""
        seconds = self.clock.now() - self.received
        if seconds > _SLOW_SECONDS and self.verb != "watch":
            took = {layer.value: part for layer, part in tracing.current().layers.items() if part}
            for name, part in {**took, _TOTAL: seconds}.items():
                self.annotate(f"{_LATENCY}{name}", durations.show(part))

    def _fragment(self, value: Object) -> orjson.Fragment:
        if self.recording.omits_managed_fields:
            value = _without_managed_fields(value)
        return orjson.Fragment(orjson.dumps(value))

    def _event(self, stage: Stage) -> Event:
        other = self.impersonated
        at = self.received if stage is Stage.REQUEST_RECEIVED else self.clock.now()
        event: dict[str, Any] = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": self.level.text,
            "auditID": self.audit_id,
            "stage": stage.value,
            "requestURI": self.uri,
            "verb": self.verb,
            "user": _user(self.user),
            "impersonatedUser": _user(other.user) if other is not None else None,
            "authenticationMetadata": _constraint(other) if other is not None else None,
            "sourceIPs": self.source_ips,
            "userAgent": self.user_agent,
            "objectRef": _reference(self.reference) if self.reference is not None else None,
            "responseStatus": {"metadata": {}, **self.status} if self.status is not None else None,
            "requestObject": self._request,
            "responseObject": self._response,
            "requestReceivedTimestamp": micro_time(self.received),
            "stageTimestamp": micro_time(at),
            "annotations": dict(sorted(self.annotations.items())),
        }
        return {name: value for name, value in event.items() if name in _ALWAYS or value not in (None, "", [], {})}


def micro_time(when: float) -> str:
    """A time with its microseconds."""
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _user(user: UserInfo) -> Object:
    shown = {
        "username": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in sorted(user.extra.items())},
    }
    return {name: value for name, value in shown.items() if value}


def _constraint(other: Impersonated) -> Object:
    return {"impersonationConstraint": other.constraint} if other.constraint else {}


_ORDER = ("resource", "namespace", "name", "uid", "apiGroup", "apiVersion", "resourceVersion", "subresource")


def _reference(known: Mapping[str, str]) -> dict[str, str]:
    return {name: known[name] for name in _ORDER if known.get(name)}


def _without_managed_fields(value: Object) -> Object:
    """A copy of an object, list or table without managedFields."""
    bare = _bare(value)
    if isinstance(items := value.get("items"), list):
        bare["items"] = [_bare(item) for item in items]
    if value.get("kind") == "Table":
        rows = value.get("rows") or []
        bare["rows"] = [{**row, "object": _bare(row["object"])} if row.get("object") else row for row in rows]
    return bare


def _bare(value: Object) -> Object:
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return dict(value)
    return {**value, "metadata": {name: one for name, one in metadata.items() if name != "managedFields"}}
