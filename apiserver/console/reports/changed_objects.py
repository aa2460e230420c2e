"""changed_objects: the objects of a report: those that changed, as they were, as they are, and who has changed them.

First come the objects that the user of the report has changed, then those of other clients, then those of controllers.
In each of these, the newest change is first. An object is left out when no client has written it, and when it has not
changed since the first request. The server has made it for itself.

Must hold: a report has at most 200 objects, and 4 MiB of them. A larger object is shown without its fields.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

from msgspec import Struct

from aio_apiserver.apiserver.console.timeline import differences, object_changes
from aio_apiserver.apiserver.console.timeline.differences import Differences
from aio_apiserver.apiserver.console.timeline.history import ResourceChange, ServerHistory
from aio_apiserver.apiserver.console.timeline.object_changes import ChangedStates
from aio_apiserver.base import budget
from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.storage.errors import Corrupt

MOST = 200
_LIMITS = BudgetLimits(steps=1_000_000, bytes_made=4 * 1024 * 1024)
"""For the objects of one report. Each is compared within the limits of an entry of the timeline."""
_MOST_USERS = 5
_BACKGROUND = frozenset({"leases", "masterleases"})
_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_OK = 400

Place = tuple[str, str, str]
"""A group, a resource, and a key: the namespace and the name."""
Request = Mapping[str, Any]


class Writes:
    """The users who have written each object, by the requests that the timeline has recorded."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._users: dict[Place, dict[str, None]] = defaultdict(dict)
        self.first = float("inf")
        """The time of the first request."""
        for one in requests:
            self.first = min(self.first, one["at"])
            if one["verb"] in _WRITES and 0 < one["status"] < _OK:
                self._users[_place_of(one)][one["user"]] = None

    def users_of(self, place: Place) -> Sequence[str]:
        """The users of an object. A deletion of a collection counts for all objects of its namespace."""
        group, resource, key = place
        collections = {(group, resource, key.rpartition("/")[0]), (group, resource, "")}
        found = dict.fromkeys(user for one in (place, *collections) for user in self._users.get(one, ()))
        return list(found)


class _ChangedObject(Struct, frozen=True):
    """An object with its changes, the oldest first, and the users who have written it."""

    place: Place
    changes: Sequence[ResourceChange]
    users: Sequence[str]


async def changed_objects(
    history: ServerHistory, revision: int, writes: Writes, *, by: str, user: str, unreadable: set[str]
) -> list[Object]:
    """The objects that changed after a revision. by: the user whose objects come first; empty for none. user: who gets
    the report. `unreadable` gets the resources and keys of those that cannot be read.
    """
    changed = [one async for one in _since(history, revision, writes)]
    changed.sort(key=lambda one: (by in one.users, bool(one.users), one.changes[-1].change.revision), reverse=True)
    left, shown = Budget(_LIMITS), list[Object]()
    async for one in in_turns(islice(changed, MOST)):
        try:
            shown.append(await _described(one, left, user))
        except Corrupt:
            unreadable.add(f"{one.place[1]} {one.place[2]}")
    return shown


async def _since(history: ServerHistory, revision: int, writes: Writes) -> AsyncIterator[_ChangedObject]:
    """The objects that changed, but those that the server has made for itself."""
    by_place: dict[Place, list[ResourceChange]] = defaultdict(list)
    async for one in in_turns(await history.newest_changes(revision)):
        if one.resource not in _BACKGROUND:
            by_place[one.group, one.resource, one.change.key].append(one)
    async for place, changes in in_turns(by_place.items()):
        users = writes.users_of(place)
        if users or history.time_of(changes[-1].change.at) >= writes.first:
            yield _ChangedObject(place, changes, users)


async def _described(one: _ChangedObject, left: Budget, user: str) -> Object:
    """An object for the report. Raises Corrupt."""
    states, data = _states(one)
    shown: Object | None = None
    compared: Differences | None = None
    with suppress(BudgetExceeded):
        left.make(len(data))
        shown, compared = await budget.within(object_changes.LIMITS, partial(_compared, states, data), user)
    group, resource, key = one.place
    namespace, _, name = key.rpartition("/")
    return {
        "group": group,
        "resource": resource,
        "namespace": namespace,
        "name": name,
        "state": "deleted" if not states.after else "changed" if states.before else "created",
        "users": one.users[:_MOST_USERS],
        "changes": len(one.changes),
        "differences": compared.fields if compared is not None else (),
        "count": compared.count if compared is not None else 0,
        "object": shown,
    }


def _states(one: _ChangedObject) -> tuple[ChangedStates, bytes]:
    """The first and the last state of an object, and the state to show. Raises Corrupt."""
    first, last = one.changes[0].change, one.changes[-1].change
    before, after, previous = (
        stored.json if stored is not None else b"" for stored in (first.previous, last.current, last.previous)
    )
    group, resource, _ = one.place
    return ChangedStates(group, resource, last.revision, 0.0, before, after), after or before or previous


def _compared(states: ChangedStates, data: bytes, account: Budget) -> tuple[Object, Differences]:
    """The state to show without secret values, and what differs."""
    compared = Differences()
    if states.before and states.after:
        before, after = (object_changes.decoded(one, account) for one in (states.before, states.after))
        compared = differences.differences(before, after, account, is_secret=states.is_secret)
    return object_changes.object_then(states, data, account), compared


def _place_of(request: Request) -> Place:
    """The object of a request. The place of a namespace is its own namespace."""
    namespace, name = request["namespace"], request["name"]
    is_in_namespace = namespace and request["resource"] != "namespaces"
    return (
        request["group"],
        request["resource"],
        f"{namespace}/{name}" if is_in_namespace and name else name or namespace,
    )
