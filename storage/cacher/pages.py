"""Pages: makes one page of a Kubernetes list, with its continue token, from the cache's objects.

Must hold: all objects of a page are from one revision, however long reading them takes. A page that is cut has the
continue token from which the origin can go on.
"""

import asyncio
import sys
from collections.abc import Sequence

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.yielding import Share
from aio_apiserver.storage.interface import ListOptions, ListResult
from aio_apiserver.storage.selection import SelectionPredicate
from aio_apiserver.storage.store import continue_token
from aio_apiserver.storage.store.hydration import hydrate
from aio_apiserver.storage.stored_object import StoredObject

STRIDE = 512
"""How many objects are matched together when a selector leaves some out."""


async def page_of(
    objects: Sequence[StoredObject], revision: int, *, key: str, options: ListOptions, clock: Clock
) -> ListResult:
    """The page of a list of `key`. A list with resource_version 0 has no limit. Raises Corrupt."""
    limit = 0 if options.resource_version == 0 or not options.recursive else options.limit
    if not limit:
        return ListResult(await _selected(objects[:], options.predicate, clock), revision)
    count, last = len(objects), objects[-1] if objects else None
    selected = await _first(limit, objects, options.predicate, clock)
    if len(selected) < limit or selected[-1] is last:
        return ListResult(selected, revision)
    token = continue_token.after(selected[-1].key.removeprefix(key), revision)
    return ListResult(selected, revision, token, count - limit if options.predicate.is_everything else None)


async def _first(
    limit: int, objects: Sequence[StoredObject], predicate: SelectionPredicate, clock: Clock
) -> Sequence[StoredObject]:
    """The first selected objects; no more are decoded than it takes to find them."""
    if predicate.is_everything:
        return await _selected(list(objects[:limit]), predicate, clock)
    selected: list[StoredObject] = []
    share = Share(clock)
    for start in range(0, len(objects), STRIDE):
        part = objects[start : start + STRIDE]
        if share.step() or [stored for stored in part if stored.unread is not None]:
            rest = objects[start:]  # must still be of the same revision after the wait
            found = await _selected(rest, predicate, clock, most=limit - len(selected))
            return [*selected, *found]
        selected.extend(predicate.select(part))
        if len(selected) >= limit:
            break
    return selected[:limit]


async def _selected(
    objects: Sequence[StoredObject], predicate: SelectionPredicate, clock: Clock, *, most: int = sys.maxsize
) -> Sequence[StoredObject]:
    """The selected ones of objects that do not change meanwhile, found in several turns of the event loop."""
    if predicate.is_everything:
        await hydrate(objects, clock)
        return objects
    selected: list[StoredObject] = []
    share = Share(clock)
    for start in range(0, len(objects), STRIDE):
        part = objects[start : start + STRIDE]
        await hydrate(part, clock)
        selected.extend(predicate.select(part))
        if len(selected) >= most:
            break
        if share.step():
            await asyncio.sleep(0)
            share = Share(clock)
    return selected[:most]
