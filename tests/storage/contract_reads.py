"""The reads of the storage contract: single objects, lists and their pages, selections, revisions."""

import base64
from typing import Any

import orjson
import pytest

from aio_apiserver.storage.errors import FutureRevision, InvalidContinue, InvalidOptions, KeyNotFound
from aio_apiserver.storage.interface import ListOptions, ListResult, ResourceVersionMatch, Storage
from aio_apiserver.storage.selection import Operator, Requirement, SelectionPredicate
from aio_apiserver.storage.store import continue_token
from tests.storage.steps import (
    Elapse,
    create,
    keys,
    labelled,
    set_labels,
    set_spec,
    while_time_goes_by,
    with_field,
)


async def create_all(storage: Storage, *names: str) -> None:
    for name in names:
        await create(storage, name)


async def pages(storage: Storage, key: str = "", *, limit: int, predicate: SelectionPredicate) -> list[ListResult]:
    """All pages of a list."""
    results = [await storage.get_list(key, ListOptions(limit=limit, predicate=predicate))]
    while token := results[-1].continue_token:
        results.append(await storage.get_list(key, ListOptions(limit=limit, predicate=predicate, continue_token=token)))
    return results


def token_of(content: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(content)).rstrip(b"=").decode()


class GetContract:
    async def test_a_get_sees_the_newest_state(self, storage: Storage) -> None:
        updated = await set_spec(storage, await create(storage, "a", color="red"), color="blue")

        assert (await storage.get("default/a")).json == updated.json

    async def test_what_does_not_exist_is_not_found(self, storage: Storage) -> None:
        await create(storage, "a")

        for key in ("default/b", "other/a", "default/a2"):
            with pytest.raises(KeyNotFound):
                await storage.get(key)

    async def test_a_get_at_a_revision_is_not_older(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")
        updated = await set_spec(storage, created, color="blue")

        for revision in (created.revision, updated.revision):
            assert (await storage.get("default/a", resource_version=revision)).revision >= revision

    async def test_a_get_at_any_revision_finds_what_was_read_before(self, storage: Storage) -> None:
        created = await create(storage, "a")
        await storage.get("default/a", resource_version=created.revision)

        assert (await storage.get("default/a", resource_version=0)).json == created.json

    async def test_a_get_from_the_future_fails(self, storage: Storage, elapse: Elapse) -> None:
        created = await create(storage, "a")

        with pytest.raises(FutureRevision) as failure:
            await while_time_goes_by(storage.get("default/a", resource_version=created.revision + 1000), elapse)
        assert failure.value.revision == created.revision + 1000
        assert str(failure.value).startswith(f"Too large resource version: {created.revision + 1000}, current: ")

    async def test_an_object_shows_its_labels_and_fields(self, storage: Storage) -> None:
        await create(storage, "a", labels={"app": "web"}, color="red")

        stored = await storage.get("default/a")

        assert stored.labels == {"app": "web"}
        assert stored.fields == {"metadata.name": "a", "metadata.namespace": "default", "spec.color": "red"}

    async def test_an_object_keeps_the_order_of_its_keys(self, storage: Storage) -> None:
        created = await create(storage, "a", zebra=1, apple={"y": 1, "x": 2})

        stored = await storage.get("default/a")

        assert list(stored.decode()["metadata"]) == ["name", "namespace", "uid", "resourceVersion"]
        assert list(stored.decode()["spec"]) == ["zebra", "apple"]
        assert stored.json == created.json

    async def test_objects_survive_whatever_json_can_say(self, storage: Storage) -> None:
        spec: dict[str, Any] = {
            "text": "é\x00\u2028😀",
            "numbers": [0, -1, 2**63 - 1, -(2**63), 2**64 - 1, 0.1, 1e300],
            "": {"none": None, "yes": True, "no": False, "empty": [[], {}, ""]},
        }

        await create(storage, "a", **spec)

        assert (await storage.get("default/a")).decode()["spec"] == spec


class ListContract:
    async def test_a_list_of_nothing_is_empty(self, storage: Storage) -> None:
        result = await storage.get_list("", ListOptions())

        assert (list(result.items), result.continue_token, result.remaining) == ([], "", None)
        assert result.revision > 0

    async def test_a_list_has_all_objects_in_key_order(self, storage: Storage) -> None:
        await create_all(storage, "b", "a-2", "a", "c")
        await create(storage, "a", namespace="a")
        await create(storage, "z", namespace="default-2")

        assert await keys(storage) == [
            "a/a", "default-2/z", "default/a", "default/a-2", "default/b", "default/c",
        ]  # fmt: skip

    async def test_a_list_of_a_namespace_has_its_objects_only(self, storage: Storage) -> None:
        await create_all(storage, "b", "a")
        await create(storage, "a", namespace="default-2")

        assert await keys(storage, "default/") == ["default/a", "default/b"]
        assert await keys(storage, "empty/") == []

    async def test_a_list_of_one_key_has_that_object_or_none(self, storage: Storage) -> None:
        await create_all(storage, "a", "a2")

        assert await keys(storage, "default/a", recursive=False) == ["default/a"]
        assert await keys(storage, "default/b", recursive=False) == []
        assert await keys(storage, "default/a", recursive=False, predicate=labelled(app="web")) == []

    async def test_a_list_is_not_older_than_any_write_before_it(self, storage: Storage) -> None:
        await create(storage, "a")
        deleted = await storage.delete("default/a")

        result = await storage.get_list("", ListOptions())

        assert list(result.items) == []
        assert result.revision >= deleted.revision

    async def test_a_list_shows_each_object_under_its_own_revision(self, storage: Storage) -> None:
        first = await create(storage, "a")
        second = await create(storage, "b")

        result = await storage.get_list("", ListOptions())

        assert [item.json for item in result.items] == [first.json, second.json]
        assert result.revision >= second.revision

    async def test_a_list_selects_by_labels(self, storage: Storage) -> None:
        await create(storage, "a", labels={"app": "web"})
        await create(storage, "b", labels={"app": "db"})
        await create(storage, "c")

        not_web = SelectionPredicate(labels=(Requirement("app", Operator.NOT_IN, frozenset(["web"])),))

        assert await keys(storage, predicate=labelled(app="web")) == ["default/a"]
        assert await keys(storage, predicate=not_web) == ["default/b", "default/c"]

    async def test_a_list_selects_by_fields(self, storage: Storage) -> None:
        await create(storage, "a", color="red")
        await create(storage, "b", color="blue")
        await create(storage, "b", namespace="other", color="red")

        assert await keys(storage, predicate=with_field("spec.color", "red")) == ["default/a", "other/b"]
        assert await keys(storage, predicate=with_field("metadata.name", "b")) == ["default/b", "other/b"]
        assert await keys(storage, predicate=with_field("metadata.namespace", "other")) == ["other/b"]

    async def test_a_selection_follows_changes(self, storage: Storage) -> None:
        stored = await create(storage, "a", labels={"app": "web"}, color="red")
        await set_labels(storage, stored, app="db")
        await set_spec(storage, stored, color="blue")

        assert await keys(storage, predicate=labelled(app="web")) == []
        assert await keys(storage, predicate=with_field("spec.color", "red")) == []
        assert await keys(storage, predicate=with_field("spec.color", "blue")) == ["default/a"]

    async def test_count_is_how_many_there_are(self, storage: Storage) -> None:
        await create_all(storage, "a", "b")
        await create(storage, "a", namespace="other")
        await storage.delete("default/b")
        await storage.get_list("", ListOptions())

        assert await storage.count() == 2


class PagingContract:
    async def test_a_limit_cuts_a_list_and_counts_the_rest(self, storage: Storage) -> None:
        await create_all(storage, "a", "b", "c", "d", "e")

        result = await storage.get_list("", ListOptions(limit=2))

        assert [item.key for item in result.items] == ["default/a", "default/b"]
        assert result.continue_token
        assert result.remaining == 3

    async def test_a_limit_that_everything_fits_in_cuts_nothing(self, storage: Storage) -> None:
        await create_all(storage, "a", "b")

        for limit in (2, 3):
            result = await storage.get_list("", ListOptions(limit=limit))
            assert (len(result.items), result.continue_token, result.remaining) == (2, "", None)

    async def test_pages_add_up_to_the_list(self, storage: Storage) -> None:
        names = [f"{number:02}" for number in range(7)]
        await create_all(storage, *names)
        await create(storage, "x", namespace="other")

        found = await pages(storage, "default/", limit=3, predicate=SelectionPredicate())

        assert [[item.key for item in page.items] for page in found] == [
            ["default/00", "default/01", "default/02"],
            ["default/03", "default/04", "default/05"],
            ["default/06"],
        ]
        assert [page.remaining for page in found] == [4, 1, None]

    async def test_pages_show_one_revision_whatever_is_written_between(self, storage: Storage) -> None:
        await create_all(storage, "a", "b", "c")
        first = await storage.get_list("", ListOptions(limit=1))
        await create(storage, "aa")
        await storage.delete("default/b")
        await set_spec(storage, await storage.get("default/c"), color="new")

        rest = await storage.get_list("", ListOptions(limit=10, continue_token=first.continue_token))

        assert [item.key for item in rest.items] == ["default/b", "default/c"]
        assert rest.items[1].decode()["spec"] == {}
        assert rest.revision == first.revision

    async def test_the_rest_can_be_read_without_a_limit(self, storage: Storage) -> None:
        await create_all(storage, "a", "b", "c")
        first = await storage.get_list("", ListOptions(limit=1))

        rest = await storage.get_list("", ListOptions(continue_token=first.continue_token))

        assert [item.key for item in rest.items] == ["default/b", "default/c"]
        assert (rest.continue_token, rest.remaining) == ("", None)

    async def test_pages_of_a_selection_are_filled_but_the_rest_is_not_counted(self, storage: Storage) -> None:
        for number in range(20):
            await create(storage, f"{number:02}", labels={"parity": "odd" if number % 2 else "even"})

        found = await pages(storage, limit=4, predicate=labelled(parity="odd"))

        selected = [f"default/{number:02}" for number in range(1, 20, 2)]
        assert [item.key for page in found for item in page.items] == selected
        assert [len(page.items) for page in found[:2]] == [4, 4]
        assert {page.remaining for page in found} == {None}
        assert len({page.revision for page in found}) == 1

    async def test_a_selection_of_few_among_many_is_found(self, storage: Storage) -> None:
        for number in range(40):
            await create(storage, f"{number:02}", color="red" if number in (0, 39) else "blue")

        found = await pages(storage, limit=1, predicate=with_field("spec.color", "red"))

        assert [item.key for page in found for item in page.items] == ["default/00", "default/39"]

    async def test_a_page_goes_on_from_a_token_of_kube_apiserver(self, storage: Storage) -> None:
        await create_all(storage, "a", "b", "c")
        revision = (await storage.get_list("", ListOptions())).revision
        token = token_of({"v": "meta.k8s.io/v1", "rv": revision, "start": "a\u0000"})

        result = await storage.get_list("default/", ListOptions(continue_token=token))

        assert [item.key for item in result.items] == ["default/b", "default/c"]

    async def test_a_token_without_a_revision_goes_on_with_the_present(self, storage: Storage) -> None:
        await create_all(storage, "a", "b", "c")
        token = token_of({"v": "meta.k8s.io/v1", "rv": -1, "start": "default/a\u0000"})
        deleted = await storage.delete("default/b")

        result = await storage.get_list("", ListOptions(continue_token=token))

        assert [item.key for item in result.items] == ["default/c"]
        assert result.revision >= deleted.revision

    @pytest.mark.parametrize(
        "token",
        [
            "garbage!",
            "YWJj",
            token_of({"v": "meta.k8s.io/v2", "rv": 5, "start": "a"}),
            token_of({"v": "meta.k8s.io/v1", "rv": 0, "start": "a"}),
            token_of({"v": "meta.k8s.io/v1", "rv": 5, "start": ""}),
            token_of({"v": "meta.k8s.io/v1", "rv": 5, "start": "../other/a\u0000"}),
        ],
    )
    async def test_a_forged_token_is_refused(self, storage: Storage, token: str) -> None:
        await create(storage, "a")

        with pytest.raises(InvalidContinue, match=r"^invalid continue token: continue key is not valid: "):
            await storage.get_list("default/", ListOptions(limit=1, continue_token=token))

    async def test_a_token_reaches_nothing_outside_its_list(self, storage: Storage) -> None:
        await create(storage, "a", namespace="secret")
        await create(storage, "a", namespace="default")
        token = token_of({"v": "meta.k8s.io/v1", "rv": -1, "start": "/secret/a"})

        result = await storage.get_list("default/", ListOptions(continue_token=token))

        assert list(result.items) == []

    async def test_a_token_from_the_future_fails(self, storage: Storage, elapse: Elapse) -> None:
        created = await create(storage, "a")
        token = token_of({"v": "meta.k8s.io/v1", "rv": created.revision + 1000, "start": "a\u0000"})

        with pytest.raises(FutureRevision):
            await while_time_goes_by(storage.get_list("", ListOptions(continue_token=token)), elapse)


class RevisionContract:
    @pytest.mark.parametrize("match", [ResourceVersionMatch.UNSET, ResourceVersionMatch.NOT_OLDER_THAN])
    async def test_a_list_at_a_revision_is_not_older(self, storage: Storage, match: ResourceVersionMatch) -> None:
        first = await create(storage, "a")
        second = await create(storage, "b")

        for revision in (first.revision, second.revision):
            result = await storage.get_list("", ListOptions(resource_version=revision, match=match))
            assert result.revision >= revision
            assert "default/a" in [item.key for item in result.items]

    @pytest.mark.parametrize("match", [ResourceVersionMatch.UNSET, ResourceVersionMatch.NOT_OLDER_THAN])
    async def test_a_list_at_any_revision_has_what_was_read_before(
        self, storage: Storage, match: ResourceVersionMatch
    ) -> None:
        created = await create(storage, "a")
        await storage.get_list("", ListOptions(resource_version=created.revision))

        assert await keys(storage, resource_version=0, match=match) == ["default/a"]

    @pytest.mark.parametrize("limit", [0, 10])
    async def test_an_exact_list_shows_that_revision(self, storage: Storage, limit: int) -> None:
        created = await create(storage, "a", color="red")
        await set_spec(storage, created, color="blue")
        await create(storage, "b")

        result = await storage.get_list(
            "", ListOptions(resource_version=created.revision, match=ResourceVersionMatch.EXACT, limit=limit)
        )

        assert [item.decode()["spec"] for item in result.items] == [{"color": "red"}]
        assert result.revision == created.revision

    async def test_a_limit_makes_a_revision_exact(self, storage: Storage) -> None:
        created = await create(storage, "a")
        await create(storage, "b")

        result = await storage.get_list("", ListOptions(resource_version=created.revision, limit=5))

        assert [item.key for item in result.items] == ["default/a"]
        assert result.revision == created.revision

    async def test_a_limit_leaves_not_older_as_it_is(self, storage: Storage) -> None:
        created = await create(storage, "a")
        last = await create(storage, "b")
        await storage.get_list("", ListOptions(resource_version=last.revision))

        result = await storage.get_list(
            "", ListOptions(resource_version=created.revision, match=ResourceVersionMatch.NOT_OLDER_THAN, limit=5)
        )

        assert [item.key for item in result.items] == ["default/a", "default/b"]

    async def test_an_exact_list_of_one_key_shows_that_revision(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")
        await set_spec(storage, created, color="blue")

        result = await storage.get_list(
            "default/a",
            ListOptions(resource_version=created.revision, match=ResourceVersionMatch.EXACT, recursive=False),
        )

        assert [item.decode()["spec"] for item in result.items] == [{"color": "red"}]

    async def test_an_exact_list_in_pages_stays_at_that_revision(self, storage: Storage) -> None:
        await create_all(storage, "a", "b")
        last = await create(storage, "c")
        await storage.delete("default/b")
        first = await storage.get_list(
            "", ListOptions(resource_version=last.revision, match=ResourceVersionMatch.EXACT, limit=1)
        )

        rest = await storage.get_list("", ListOptions(continue_token=first.continue_token))

        assert [item.key for item in rest.items] == ["default/b", "default/c"]
        assert {first.revision, rest.revision} == {last.revision}

    @pytest.mark.parametrize(
        "options",
        [
            {"match": ResourceVersionMatch.UNSET},
            {"match": ResourceVersionMatch.NOT_OLDER_THAN},
            {"match": ResourceVersionMatch.EXACT},
            {"match": ResourceVersionMatch.UNSET, "limit": 1},
            {"match": ResourceVersionMatch.NOT_OLDER_THAN, "recursive": False},
        ],
    )
    async def test_a_list_from_the_future_fails(
        self, storage: Storage, elapse: Elapse, options: dict[str, object]
    ) -> None:
        created = await create(storage, "a")
        wanted = ListOptions(resource_version=created.revision + 1000, **options)  # type: ignore[arg-type]
        key = "" if wanted.recursive else "default/a"

        with pytest.raises(FutureRevision):
            await while_time_goes_by(storage.get_list(key, wanted), elapse)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                ListOptions(match=ResourceVersionMatch.EXACT),
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ),
            (
                ListOptions(match=ResourceVersionMatch.EXACT, resource_version=0),
                'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
            ),
            (
                ListOptions(match=ResourceVersionMatch.NOT_OLDER_THAN, resource_version=0, continue_token="any"),
                "resourceVersionMatch is forbidden when continue is provided",
            ),
            (
                ListOptions(resource_version=5, continue_token=continue_token.after("default/web", 5)),
                "specifying resource version is not allowed when using continue",
            ),
        ],
    )
    async def test_options_without_a_meaning_are_refused(
        self, storage: Storage, options: ListOptions, message: str
    ) -> None:
        with pytest.raises(InvalidOptions) as failure:
            await storage.get_list("", options)
        assert str(failure.value) == message
