"""Continuing: the next pages of a list come from the cache, at the list's revision, as long as its window allows."""

from collections.abc import Sequence
from typing import Any

import pytest

from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.errors import InvalidContinue, RevisionExpired
from aio_apiserver.storage.interface import ListOptions, ListResult
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.store import KVStore
from tests.storage.cacher.troubled import Troubled
from tests.storage.steps import create, labelled, set_spec

NAMES = "abcdefgh"


async def first_page(cacher: Cacher, limit: int = 2) -> ListResult:
    for name in NAMES:
        await create(cacher, name, labels={"odd": str(NAMES.index(name) % 2)})
    return await cacher.get_list("", ListOptions(limit=limit))


async def continued(cacher: Cacher, page: ListResult, limit: int = 2, **options: Any) -> ListResult:
    return await cacher.get_list("", ListOptions(limit=limit, continue_token=page.continue_token, **options))


def names(items: Sequence[Any]) -> str:
    return "".join(item.key.removeprefix("default/") for item in items)


async def test_the_next_page_reads_no_objects_from_the_store(cacher: Cacher, origin: Troubled) -> None:
    page = await first_page(cacher)
    cached = await cacher.get_list("", ListOptions(resource_version=0))

    following = await continued(cacher, page)

    assert [item is known for item, known in zip(following.items, cached.items[2:4], strict=True)] == [True, True]
    assert (names(following.items), following.revision, following.remaining) == ("cd", page.revision, 4)


async def test_pages_show_the_state_of_the_first_one(cacher: Cacher, store: KVStore) -> None:
    page = await first_page(cacher)
    revision = page.revision
    changed = await cacher.get("default/d")
    await set_spec(cacher, changed, color="blue")
    await cacher.delete("default/e")
    await create(cacher, "ccc")
    await cacher.get_list("", ListOptions())

    shown: list[Any] = [*page.items]
    while page.continue_token:
        token = page.continue_token
        page = await continued(cacher, page)
        truth = await store.get_list("", ListOptions(limit=2, continue_token=token))
        assert [item.json for item in page.items] == [item.json for item in truth.items]
        assert (page.continue_token, page.remaining) == (truth.continue_token, truth.remaining)
        shown += page.items

    assert names(shown) == NAMES
    assert page.revision == revision


async def test_a_selection_goes_on(cacher: Cacher) -> None:
    page = await first_page(cacher, limit=1)

    following = await continued(cacher, page, predicate=labelled(odd="1"))

    assert names(following.items) == "bd"
    assert following.continue_token


async def test_a_token_that_is_none_is_refused(cacher: Cacher) -> None:
    await first_page(cacher)

    with pytest.raises(InvalidContinue):
        await cacher.get_list("", ListOptions(continue_token="%"))


async def test_a_compacted_page_has_expired(cacher: Cacher, memory_kv: MemoryKV) -> None:
    page = await first_page(cacher)
    await create(cacher, "z")
    await cacher.get_list("", ListOptions())
    await memory_kv.compact(page.revision + 1)

    with pytest.raises(RevisionExpired):
        await continued(cacher, page)
