"""findings: what stands out in a timeline: refused requests, repeated ones, injected faults, objects that change often.

Pure. A person who looks at a failed test reads these lines first.

    bad   3 times 409 Conflict: patch deployments.apps default/web by kopf
    warn  3 times FailedCreate: ReplicaSet default/web
    warn  kopf changed examples.example.org default/one 40 times, at status.counter
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

_OFTEN = 10
_MOST = 12
_LONGEST = 300
_OK = 400
_BACKGROUND = frozenset({"leases", "masterleases"})

Finding = dict[str, str]


def findings(
    requests: Sequence[Mapping[str, Any]],
    changes: Sequence[Mapping[str, Any]],
    events: Sequence[Mapping[str, Any]],
    unreadable: Sequence[str] = (),
) -> list[Finding]:
    """The findings, the gravest first. unreadable: objects whose stored data are corrupt."""
    found = (_unreadable(unreadable), _refused(requests), _faults(requests), _warned(events), _often(changes))
    return list(chain.from_iterable(found))[:_MOST]


def withheld(count: int) -> list[Finding]:
    """The finding of a report that lacks parts, since they could not be searched for the values of Secrets."""
    if not count:
        return []
    detail = "To look for the values of all Secrets in them takes too long."
    return [_finding("warn", f"{count} parts are left out of this report", detail)]


def request_words(one: Mapping[str, Any]) -> str:
    """A request as a line: `patch deployments.apps/status default/web`."""
    if not one["resource"]:
        return f"{one['verb']} {one['path']}"
    subresource = f"/{one['subresource']}" if one["subresource"] else ""
    group = f".{one['group']}" if one["group"] else ""
    place = "/".join(filter(None, (one["namespace"], one["name"])))
    return f"{one['verb']} {one['resource']}{group}{subresource} {place}".rstrip()


def client_words(one: Mapping[str, Any]) -> str:
    """The first word of a User-Agent, without its version."""
    return str(one["client"]).partition("/")[0].partition(" ")[0] or "a client"


def _unreadable(names: Sequence[str]) -> Iterator[Finding]:
    if names:
        yield _finding("bad", f"{_times(len(names))}stored data that cannot be read", ", ".join(names))


def _refused(requests: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    counts: Counter[tuple[str, ...]] = Counter()
    messages: dict[tuple[str, ...], str] = {}
    for one in requests:
        if one["status"] >= _OK:
            key = (str(one["status"]), one["reason"], request_words(one), client_words(one))
            counts[key] += 1
            messages[key] = one["message"]
    for (status, reason, words, client), count in sorted(counts.items(), key=_gravest):
        is_grave = status[0] == "5" or status not in ("404", "410")
        text = f"{_times(count)}{status} {reason}: {words} by {client}"
        yield _finding("bad" if is_grave else "info", text, messages[status, reason, words, client])


def _times(count: int) -> str:
    return f"{count} times " if count > 1 else ""


def _gravest(item: tuple[tuple[str, ...], int]) -> tuple[bool, int]:
    (status, *_), count = item
    return status in ("404", "410"), -count


def _faults(requests: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    counts = Counter(one["fault"] for one in requests if one["fault"])
    counts += Counter(
        step["by"] for one in requests if one["verb"] == "watch" for step in one["steps"] if _is_fault(step)
    )
    for fault, count in counts.most_common():
        yield _finding("info", f"{_times(count)}the test injected the fault {fault}", "")


def _is_fault(step: Mapping[str, Any]) -> bool:
    return bool(step["kind"] == "fault")


def _warned(events: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """The Events of type Warning, once for each reason and object."""
    found = {(one["reason"], one["kind"], one["namespace"], one["name"]): one for one in events if _is_warning(one)}
    for one in found.values():
        place = "/".join(filter(None, (one["namespace"], one["name"])))
        yield _finding("warn", f"{_times(one['count'])}{one['reason']}: {one['kind']} {place}", one["message"])


def _is_warning(event: Mapping[str, Any]) -> bool:
    return bool(event["type"] == "Warning")


def _often(changes: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    counts: Counter[tuple[str, ...]] = Counter()
    for one in changes:
        if one["type"] == "MODIFIED" and one["resource"] not in _BACKGROUND:
            path = one["differences"][0][0] if one["differences"] else "nothing that is shown"
            place = "/".join(filter(None, (one["namespace"], one["name"])))
            counts[one["manager"], f"{one['resource']} {place}", path] += 1
    for (manager, place, path), count in counts.most_common():
        if count >= _OFTEN:
            yield _finding("warn", f"{manager or 'a client'} changed {place} {count} times, at {path}", "")


def _finding(tone: str, text: str, detail: str) -> Finding:
    return {"tone": tone, "text": text, "detail": detail[:_LONGEST]}
