"""Continuing: reads the next page of a list at the revision of its first page from the cache.

The page comes from the present state. The changes after that revision, which are still in the window, are undone:

    state   a=12  b=8   d=11      window   9 PUT a (was a=4), 11 PUT d (was nothing), 12 PUT a (was a=9)
    at 10   a=9   b=8             undone   12 PUT a, 11 PUT d

Must hold: a page shows what the origin would show. The origin reads pages at revisions that are compacted or have left
the window, and reports their errors.
"""

from collections.abc import Iterable, Sequence

from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.cacher.pages import page_of
from aio_apiserver.storage.cacher.watch_cache import WatchCache
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.errors import InvalidOptions, RevisionExpired
from aio_apiserver.storage.interface import ListOptions, ListResult, Origin, ResourceVersionMatch
from aio_apiserver.storage.store import continue_token
from aio_apiserver.storage.store.continue_token import ContinueToken
from aio_apiserver.storage.stored_object import StoredObject

MOST_COPIED = 10_000
"""With more objects than this, a read at the origin is faster than undoing changes in a copy."""


async def continued(
    cache: WatchCache, origin: Origin, key: str, options: ListOptions, clock: Clock
) -> ListResult | None:
    """The page; None when only the origin can read it. Raises InvalidContinue, Corrupt."""
    token = continue_token.decode(options.continue_token)
    if options.resource_version is not None or not options.recursive or token.is_present:
        return None
    if _behind(cache, token) is None or not await _is_kept(origin, key, token):
        return None
    changes = _behind(cache, token)
    objects = _past(cache, key, token, changes) if changes is not None else None
    if objects is None:
        return None
    return await page_of(objects, token.revision, key=key, options=options, clock=clock)


async def _is_kept(origin: Origin, key: str, token: ContinueToken) -> bool:
    """Whether the store still has the revision: one key is read at that revision."""
    exactly = ListOptions(resource_version=token.revision, match=ResourceVersionMatch.EXACT, recursive=False)
    try:
        await origin.get_list(key + token.start.rstrip("\0"), exactly)
    except (InvalidOptions, RevisionExpired):
        return False
    return True


def _behind(cache: WatchCache, token: ContinueToken) -> Iterable[Change] | None:
    """The changes after the revision of a token; None when the cache does not know all of them."""
    if token.revision > cache.revision:
        return None
    try:
        return cache.window.behind(token.revision)
    except RevisionExpired:
        return None


def _past(
    cache: WatchCache, key: str, token: ContinueToken, changes: Iterable[Change]
) -> Sequence[StoredObject] | None:
    """The rest of a list before these changes; None when a read at the origin is faster."""
    rest = cache.state.span(key).behind(key + token.start)
    undone: dict[str, StoredObject | None] = {}
    for change in changes:
        if change.key.startswith(key) and change.key >= key + token.start:
            undone.setdefault(change.key, change.previous)
    if not undone:
        return rest
    return _without(rest, undone) if len(rest) <= MOST_COPIED else None


def _without(rest: Sequence[StoredObject], undone: dict[str, StoredObject | None]) -> Sequence[StoredObject]:
    """The objects in key order, with the previous objects in place of the changed ones."""
    objects = {stored.key: stored for stored in rest} | undone
    return [stored for _, stored in sorted(objects.items()) if stored is not None]
