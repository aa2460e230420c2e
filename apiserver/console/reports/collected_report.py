"""collected_report: the contents of a report, as JSON: the timeline after a moment, and the objects that changed.

Must hold: no secret value is in it. Values that Secrets have had are replaced in all its texts. So a copy in a config
map, a message or the log is hidden, too.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.apiserver.console.reports.findings import findings
from aio_apiserver.apiserver.console.timeline.differences import CUT, differences
from aio_apiserver.apiserver.console.timeline.hidden_values import HIDDEN
from aio_apiserver.apiserver.console.timeline.history import HistoryMoment, ServerHistory
from aio_apiserver.apiserver.console.timeline.object_changes import object_then
from aio_apiserver.storage.cacher.change import Change

_SHORTEST = 6
"""Shorter values of Secrets are not looked for in texts: they are parts of usual words."""
_MOST_OBJECTS = 200
_BACKGROUND = frozenset({"leases", "masterleases"})

ReportData = dict[str, Any]


class ReportText(Struct, frozen=True):
    """A text for a report: the failure of a test, its log."""

    title: str
    text: str


async def collected(
    history: ServerHistory,
    since: HistoryMoment,
    *,
    title: str,
    texts: Sequence[ReportText] = (),
    secrets: Sequence[str] = (),
) -> ReportData:
    """The contents of a report. secrets: further values to hide, such as tokens."""
    timeline = await history.after(since)
    data = {
        "title": title,
        "findings": findings(timeline["requests"], timeline["changes"]),
        "texts": [{"title": one.title, "text": one.text} for one in texts],
        "timeline": timeline,
        "objects": list(_objects(history, since)),
    }
    hidden: ReportData = _without(data, sorted({*secrets, *_secret_values(history)}, key=len, reverse=True))
    return hidden


def _objects(history: ServerHistory, since: HistoryMoment) -> Iterator[Mapping[str, Any]]:
    """The objects that changed: as they were, as they are, and how they differ."""
    for (group, resource, _), changes in list(_by_object(history, since).items())[:_MOST_OBJECTS]:
        first, last = changes[0].previous, changes[-1].current
        before = object_then(group, resource, first) if first is not None else {}
        after = object_then(group, resource, last) if last is not None else {}
        previous = changes[-1].previous
        shown = after or before or (object_then(group, resource, previous) if previous is not None else {})
        metadata = shown.get("metadata", {})
        yield {
            "group": group,
            "resource": resource,
            "namespace": metadata.get("namespace", ""),
            "name": metadata.get("name", ""),
            "state": "deleted" if not after else "changed" if before else "created",
            "changes": len(changes),
            "differences": differences(before, after) if before and after else [],
            "object": shown,
        }


def _by_object(history: ServerHistory, since: HistoryMoment) -> Mapping[tuple[str, str, str], list[Change]]:
    found: dict[tuple[str, str, str], list[Change]] = {}
    for group, resource, change in history.raw_changes(since.revision):
        if resource not in _BACKGROUND:
            found.setdefault((group, resource, change.key), []).append(change)
    return found


def _secret_values(history: ServerHistory) -> Iterator[str]:
    """The values that Secrets have had, plain and in base64, as far as the window goes back."""
    for group, resource, change in history.raw_changes(0):
        if resource == "secrets" and not group:
            for stored in filter(None, (change.previous, change.current)):
                yield from _values_of(stored.decode().get("data") or {})


def _values_of(data: Mapping[str, str]) -> Iterator[str]:
    """Each value in base64, as it is, and as JSON writes it in a difference: a key in PEM has several lines."""
    for encoded in data.values():
        try:
            plain = base64.b64decode(encoded, validate=True).decode()
        except (binascii.Error, ValueError):
            continue
        if len(plain) >= _SHORTEST:
            yield from (encoded, plain, orjson.dumps(plain).decode()[1:-1])


def _without(value: Any, secrets: Sequence[str]) -> Any:
    """The value with `(hidden)` in the place of each secret."""
    if isinstance(value, str):
        for secret in secrets:
            value = _without_beginning(value.replace(secret, HIDDEN), secret)
        return value
    if isinstance(value, dict):
        return {_without(name, secrets): _without(one, secrets) for name, one in value.items()}
    return [_without(one, secrets) for one in value] if isinstance(value, list | tuple) else value


def _without_beginning(text: str, secret: str) -> str:
    """The text with `(hidden)` for its last letters, when a secret begins with them: long texts are cut."""
    whole = text.removesuffix(CUT)
    at = whole.find(secret[:_SHORTEST], max(len(whole) - len(secret), 0))
    while at >= 0 and not secret.startswith(whole[at:]):
        at = whole.find(secret[:_SHORTEST], at + 1)
    return text if at < 0 else f"{whole[:at]}{HIDDEN}"
