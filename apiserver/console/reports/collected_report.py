"""collected_report: the contents of a report, as JSON: the timeline after a moment, and the objects that changed.

Must hold: no secret value is in it. Values that Secrets have had are replaced in all its texts. So a copy in a config
map, a message or the log is hidden, too.
"""

import base64
import binascii
import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.apiserver.console.reports.findings import findings
from aio_apiserver.apiserver.console.reports.secret_texts import SecretTexts
from aio_apiserver.apiserver.console.timeline.differences import differences
from aio_apiserver.apiserver.console.timeline.history import HistoryMoment, ServerHistory
from aio_apiserver.apiserver.console.timeline.object_changes import object_then
from aio_apiserver.storage.cacher.change import Change
from aio_apiserver.storage.yielding import in_turns

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
    timeline, objects = await history.after(since), list(_objects(history, since))
    hidden = SecretTexts({*secrets, *await _secret_values(history)})
    return {
        "title": hidden.without(title),
        "findings": hidden.without(findings(timeline["requests"], timeline["changes"], timeline["events"])),
        "texts": hidden.without([{"title": one.title, "text": one.text} for one in texts]),
        "timeline": {
            **timeline,
            "requests": await _each(hidden, timeline["requests"]),
            "changes": await _each(hidden, timeline["changes"]),
            "events": await _each(hidden, timeline["events"]),
        },
        "objects": await _each(hidden, objects),
    }


async def _each(hidden: SecretTexts, values: Iterable[Any]) -> list[Any]:
    return [hidden.without(one) async for one in in_turns(values)]


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


async def _secret_values(history: ServerHistory) -> set[str]:
    """The values that Secrets have, and those that they have had as far as the window goes back."""
    return {value for stored in await history.secrets() for value in _values_of(stored.decode().get("data") or {})}


def _values_of(data: Mapping[str, str]) -> Iterator[str]:
    """Each value in base64, as it is, and as JSON writes it in a difference: a key in PEM has several lines."""
    for encoded in data.values():
        yield encoded
        with contextlib.suppress(binascii.Error, ValueError):
            plain = base64.b64decode(encoded, validate=True).decode()
            yield from (plain, orjson.dumps(plain).decode()[1:-1])
