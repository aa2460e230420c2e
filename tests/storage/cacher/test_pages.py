"""Pages: limits, tokens and remaining counts, as the origin returns them."""

import asyncio
from collections.abc import Sequence

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.yielding import MAX_STEPS
from aio_apiserver.storage.cacher.pages import STRIDE, page_of
from aio_apiserver.storage.cacher.state import State
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.interface import ListOptions, ListResult, ResourceVersionMatch
from aio_apiserver.storage.store import continue_token
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.cacher.objects import Decodings, broken, stored
from tests.storage.steps import labelled

WEB = labelled(app="web")


async def page(objects: Sequence[StoredObject], options: ListOptions, key: str = "") -> ListResult:
    return await page_of(objects, 50, key=key, options=options, clock=ManualClock())


def webs(*numbers: int, of: int) -> list[StoredObject]:
    """Objects a/000, a/001..., of which some are selected by WEB."""
    return [
        stored(f"a/{number:04}", number + 1, labels={"app": "web" if number in numbers else "db"})
        for number in range(of)
    ]


def keys(result: ListResult) -> list[str]:
    return [item.key for item in result.items]


async def test_without_a_limit_everything_selected_comes() -> None:
    result = await page(webs(0, 2, of=3), ListOptions(predicate=WEB))

    assert keys(result) == ["a/0000", "a/0002"]
    assert (result.revision, result.continue_token, result.remaining) == (50, "", None)


async def test_a_limit_cuts_and_leaves_a_token() -> None:
    result = await page(webs(of=5), ListOptions(limit=2))

    assert keys(result) == ["a/0000", "a/0001"]
    assert result.remaining == 3
    assert continue_token.decode(result.continue_token) == continue_token.ContinueToken("a/0001\0", 50)


async def test_a_token_is_relative_to_the_list() -> None:
    result = await page(webs(of=5), ListOptions(limit=2), key="a/")

    assert continue_token.decode(result.continue_token).start == "0001\0"


@pytest.mark.parametrize("limit", [3, 4])
async def test_a_limit_that_takes_all_leaves_no_token(limit: int) -> None:
    result = await page(webs(of=3), ListOptions(limit=limit))

    assert len(result.items) == 3
    assert (result.continue_token, result.remaining) == ("", None)


async def test_how_many_are_left_of_a_selection_is_not_known() -> None:
    result = await page(webs(0, 1, 2, of=4), ListOptions(limit=2, predicate=WEB))

    assert keys(result) == ["a/0000", "a/0001"]
    assert result.continue_token
    assert result.remaining is None


async def test_a_token_is_left_when_more_might_be_selected() -> None:
    more = await page(webs(0, 1, of=4), ListOptions(limit=2, predicate=WEB))
    none = await page(webs(0, 3, of=4), ListOptions(limit=2, predicate=WEB))

    assert more.continue_token
    assert not none.continue_token


async def test_version_zero_has_no_limit() -> None:
    for match in (ResourceVersionMatch.UNSET, ResourceVersionMatch.NOT_OLDER_THAN):
        result = await page(webs(of=5), ListOptions(limit=2, resource_version=0, match=match))

        assert len(result.items) == 5
        assert not result.continue_token


async def test_a_cut_list_decodes_no_more_than_it_needs() -> None:
    decodings = Decodings()
    objects = [stored(f"a/{number}", 1, reader=decodings.reader) for number in range(100)]

    await page(objects, ListOptions(limit=10))

    assert decodings.count == 10


async def test_a_selected_limit_is_filled_from_as_many_strides_as_it_takes() -> None:
    last = 3 * STRIDE
    result = await page(webs(0, STRIDE, last, of=last + 2), ListOptions(limit=3, predicate=WEB))

    assert keys(result) == [f"a/{number:04}" for number in (0, STRIDE, last)]
    assert result.continue_token


async def test_a_long_list_lets_others_run_while_it_is_decoded() -> None:
    objects = webs(of=10 * MAX_STEPS)
    turns = 0

    listing = asyncio.ensure_future(page(objects, ListOptions()))
    while not listing.done():
        turns += 1
        await asyncio.sleep(0)

    assert turns >= 10
    assert all(item.unread is None for item in listing.result().items)


async def test_a_list_of_what_cannot_be_read_fails() -> None:
    with pytest.raises(Corrupt, match="a/9"):
        await page([*webs(of=3), broken("a/9", 7)], ListOptions())


async def test_a_page_shows_one_revision_though_the_state_changes_while_it_is_decoded() -> None:
    state = State()
    state.replace(webs(3 * STRIDE, of=3 * STRIDE + 1))

    listing = asyncio.ensure_future(page(state.span(""), ListOptions(limit=1, predicate=WEB)))
    await asyncio.sleep(0)
    state.replace(())

    assert keys(await listing) == [f"a/{3 * STRIDE:04}"]


class Racing(ManualClock):
    """A clock on which each step takes a second."""

    def monotonic(self) -> float:
        self.advance(1)
        return super().monotonic()


@pytest.mark.parametrize("limit", [0, 1])
async def test_a_long_search_lets_others_run_though_all_is_decoded(limit: int) -> None:
    state = State()
    state.replace(webs(3 * STRIDE, of=3 * STRIDE + 1))
    for item in state.within(""):
        item.hydrate()
    options = ListOptions(limit=limit, predicate=WEB)

    listing = asyncio.ensure_future(page_of(state.span(""), 50, key="", options=options, clock=Racing()))
    await asyncio.sleep(0)
    is_done = listing.done()
    state.replace(())

    assert not is_done
    assert keys(await listing) == [f"a/{3 * STRIDE:04}"]
