"""collected_report: a report as JSON: the timeline after a moment, and the Kubernetes objects that changed.

Must hold: no value of a Secret that can be read is in it. The values are replaced in all its texts. So a copy in a
config map, a message or the log is hidden, too. Values of less than six letters stay: they are parts of usual words.
Reading gives way to requests. An object that cannot be read is named in the findings and left out.
"""

import base64
import binascii
import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.apiserver.console.reports.findings import findings
from aio_apiserver.apiserver.console.reports.secret_texts import SecretTexts
from aio_apiserver.apiserver.console.timeline.differences import differences
from aio_apiserver.apiserver.console.timeline.history import HistoryMoment, ServerHistory
from aio_apiserver.apiserver.console.timeline.object_changes import object_then
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.factory.readable_pages import place_of

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
    unreadable: set[str] = set()
    timeline, objects = await history.after(since), await _objects(history, since, unreadable)
    hidden = SecretTexts({*secrets, *await _secret_values(history, unreadable)})
    found = findings(timeline["requests"], timeline["changes"], timeline["events"], sorted(unreadable))
    return {
        "title": hidden.without(title),
        "findings": hidden.without(found),
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


async def _objects(history: ServerHistory, since: HistoryMoment, unreadable: set[str]) -> list[Mapping[str, Any]]:
    """The objects that changed: as they were, as they are, and how they differ."""
    found: list[Mapping[str, Any]] = []
    changed = await _by_object(history, since)
    async for (group, resource, key), changes in in_turns(islice(changed.items(), _MOST_OBJECTS)):
        try:
            found.append(_changed_object(group, resource, changes))
        except Corrupt:
            unreadable.add(f"{resource} {key}")
    return found


def _changed_object(group: str, resource: str, changes: Sequence[Change]) -> Mapping[str, Any]:
    """The first and the last state of an object. Raises Corrupt."""
    first, last = changes[0].previous, changes[-1].current
    before = object_then(group, resource, first) if first is not None else {}
    after = object_then(group, resource, last) if last is not None else {}
    previous = changes[-1].previous
    shown = after or before or (object_then(group, resource, previous) if previous is not None else {})
    metadata = shown.get("metadata", {})
    return {
        "group": group,
        "resource": resource,
        "namespace": metadata.get("namespace", ""),
        "name": metadata.get("name", ""),
        "state": "deleted" if not after else "changed" if before else "created",
        "changes": len(changes),
        "differences": differences(before, after) if before and after else [],
        "object": shown,
    }


async def _by_object(history: ServerHistory, since: HistoryMoment) -> Mapping[tuple[str, str, str], list[Change]]:
    found: dict[tuple[str, str, str], list[Change]] = {}
    async for group, resource, change in in_turns(await history.raw_changes(since.revision)):
        if resource not in _BACKGROUND:
            found.setdefault((group, resource, change.key), []).append(change)
    return found


async def _secret_values(history: ServerHistory, unreadable: set[str]) -> set[str]:
    """The values that Secrets have, and those that they have had as far as the window goes back."""
    values: set[str] = set()
    lost: set[str] = set()
    async for page in history.secrets(lost):
        async for stored in in_turns(page):
            try:
                values.update(_values_of(stored.decode().get("data") or {}))
            except Corrupt as exc:
                lost.add(place_of(exc))
    unreadable.update(f"secrets {place}" for place in lost)
    return values


def _values_of(data: Mapping[str, str]) -> Iterator[str]:
    """Each value in base64, as it is, and as JSON writes it in a difference: a key in PEM has several lines."""
    for encoded in data.values():
        yield encoded
        with contextlib.suppress(binascii.Error, ValueError):
            plain = base64.b64decode(encoded, validate=True).decode()
            yield from (plain, orjson.dumps(plain).decode()[1:-1])
