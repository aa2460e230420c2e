"""Listing: lists from the kv engine, in pages, with all pages of one list at one revision.

It decides the revision of a list, its start and its continuation, and matches predicates. Items are decoded at their
first use, and Corrupt is raised then. A list that meets corrupt objects before raises one CorruptObjects for all. It
knows no write and no watch.

The meaning of a resourceVersion (N > 0; a continue token has its own revision and allows no other but 0):

    match          unset      0         N, limit      N, no limit
    unset          newest     newest    exactly N     newest, not older than N
    NotOlderThan   -          newest    newest, not older than N
    Exact          -          -         exactly N

Must hold: all pages of a list show the same revision until it is compacted. Then the error carries a token that
continues with the present state.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from msgspec import Struct, field

from aio_apiserver.storage.errors import Compacted, Corrupt, FutureRevision, InvalidOptions, RevisionExpired
from aio_apiserver.storage.interface import ListOptions, ListResult, ResourceVersionMatch
from aio_apiserver.storage.kv.interface import KV, RangeResult
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.store import continue_token
from aio_apiserver.storage.store.continue_token import ContinueToken
from aio_apiserver.storage.store.hydration import Corruption
from aio_apiserver.storage.store.records import Records
from aio_apiserver.storage.stored_object import StoredObject

MAX_PAGE = 10_000
"""The page size of requests to the kv engine, unless the client's limit is higher (kube-apiserver's maximum)."""

ITEMS_PER_TURN = 256
"""Records to read or match before the event loop runs other tasks; about 10 ms when all must be decoded."""

EXPIRED = "The resourceVersion for the provided list is too old."
_CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list "
    "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
    "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
    "modified, or deleted between the time the first chunk was returned and now may show up in the list."
)


class _Position(Struct):
    """The position of a list: the next key, the page size, and the revision (0 until the first page)."""

    start: bytes
    end: bytes
    page: int
    revision: int = 0


class _Selection(Struct):
    """The selected objects so far, and those that cannot be read."""

    items: list[StoredObject] = field(default_factory=list)
    corruption: Corruption = field(default_factory=Corruption)


class Listing:
    """Lists the objects of one resource."""

    def __init__(self, kv: KV, records: Records) -> None:
        self._kv = kv
        self._records = records

    async def get_list(self, key: str, options: ListOptions) -> ListResult:
        """A list, or one page of it."""
        check(options)
        return await (self._paged(key, options) if options.recursive else self._single(key, options))

    async def pages(self, key: str, revision: int, *, recursive: bool) -> AsyncGenerator[list[StoredObject], None]:
        """All objects below the key at one revision, in batches. Raises Compacted."""
        start, end = self._records.range_of(key, recursive=recursive)
        position = _Position(start, end, MAX_PAGE, revision)
        more = True
        while more:
            page = await self._next_page(position)
            more = page.more
            for first in range(0, len(page.records), ITEMS_PER_TURN):
                yield [await self._records.read(record) for record in page.records[first : first + ITEMS_PER_TURN]]
                await asyncio.sleep(0)

    async def _single(self, key: str, options: ListOptions) -> ListResult:
        revision = _exact_revision(options)
        try:
            found = await self._kv.get(self._records.key_of(key), revision=revision)
        except Compacted as exc:
            raise RevisionExpired(EXPIRED) from exc
        _check_not_older(options, found.revision)
        selection = _Selection()
        if found.record is not None:
            await self._select([found.record], options, selection)
            selection.corruption.check()
        found_any = int(found.record is not None)
        return ListResult(selection.items, revision or found.revision, fetched=found_any, examined=found_any)

    async def _paged(self, key: str, options: ListOptions) -> ListResult:
        base, end = self._records.range_of(key, recursive=True)
        token = continue_token.decode(options.continue_token) if options.continue_token else None
        position = _begin(base, end, options, token)
        selection = _Selection()
        try:
            result = await self._fill(position, base, options, selection)
        except Compacted as exc:
            if token is None:
                raise RevisionExpired(EXPIRED) from exc
            resume = continue_token.encode(ContinueToken(_below(base, position.start), continue_token.PRESENT))
            raise RevisionExpired(_CONTINUE_EXPIRED, resume) from exc
        selection.corruption.check()
        return result

    async def _fill(self, position: _Position, base: bytes, options: ListOptions, selection: _Selection) -> ListResult:
        """Fetch pages until the limit is reached or no record is left."""
        items = selection.items
        fetched = examined = 0
        while True:
            page = await self._next_page(position)
            _check_not_older(options, position.revision)
            seen = await self._select(page.records, options, selection)
            fetched, examined = fetched + len(page.records), examined + seen
            remaining = page.count - seen
            if not remaining:
                return ListResult(items, position.revision, fetched=fetched, examined=examined)
            if _is_full(items, options):
                last = _below(base, page.records[seen - 1].key)
                token = continue_token.after(last, position.revision)
                known = remaining if options.predicate.is_everything else None
                return ListResult(items, position.revision, token, known, fetched=fetched, examined=examined)
            position.page = max(position.page, min(2 * position.page, MAX_PAGE))

    async def _next_page(self, position: _Position) -> RangeResult:
        page = await self._kv.range(position.start, position.end, limit=position.page, revision=position.revision)
        position.revision = position.revision or page.revision
        if page.records:
            position.start = page.records[-1].key + b"\0"
        return page

    async def _select(self, records: Sequence[Record], options: ListOptions, selection: _Selection) -> int:
        """Add the selected objects, up to the limit. Returns the number of examined records."""
        predicate, items = options.predicate, selection.items
        for seen, record in enumerate(records, start=1):
            try:
                item = await self._records.read(record)
                is_selected = predicate.is_everything or predicate.matches(item)
            except Corrupt as exc:
                selection.corruption.add(exc)
                continue
            if is_selected:
                items.append(item)
                if _is_full(items, options):
                    return seen
            if seen % ITEMS_PER_TURN == 0:
                await asyncio.sleep(0)
        return len(records)


def check(options: ListOptions) -> None:
    """Raise InvalidOptions for contradicting options, with kube-apiserver's messages."""
    version, match = options.resource_version, options.match
    if match is not ResourceVersionMatch.UNSET:
        if version is None:
            raise InvalidOptions("resourceVersionMatch is forbidden unless resourceVersion is provided")
        if options.continue_token:
            raise InvalidOptions("resourceVersionMatch is forbidden when continue is provided")
        if match is ResourceVersionMatch.EXACT and version == 0:
            raise InvalidOptions('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
    if options.continue_token and version:
        continue_token.decode(options.continue_token)  # a token that is none is told first
        raise InvalidOptions("specifying resource version is not allowed when using continue")


def _begin(base: bytes, end: bytes, options: ListOptions, token: ContinueToken | None) -> _Position:
    page = options.limit if options.limit > 0 else MAX_PAGE
    if token is None:
        return _Position(base, end, page, _exact_revision(options))
    return _Position(base + token.start.encode(), end, page, 0 if token.is_present else token.revision)


def _exact_revision(options: ListOptions) -> int:
    """The revision at which the list must be read; 0 for the newest."""
    version = options.resource_version or 0
    if options.match is ResourceVersionMatch.EXACT or (
        options.match is ResourceVersionMatch.UNSET and options.recursive and options.limit > 0
    ):
        return version
    return 0


def _check_not_older(options: ListOptions, revision: int) -> None:
    wanted = options.resource_version or 0
    if wanted > revision:
        raise FutureRevision(wanted, revision)


def _is_full(items: Sequence[StoredObject], options: ListOptions) -> bool:
    return 0 < options.limit <= len(items)


def _below(base: bytes, key: bytes) -> str:
    return key[len(base) :].decode("utf-8", "replace")
