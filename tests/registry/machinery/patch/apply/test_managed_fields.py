"""Managed fields: reading, order and number of entries."""

from typing import Any

import pytest

from aio_apiserver.registry.machinery.patch.apply import managed_fields
from aio_apiserver.registry.machinery.patch.apply.managed_fields import Owned, Owner

GOOD = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:a": {}}}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"operation": "Odd"}, "operation must be `Apply` or `Update`"),
        ({"apiVersion": ""}, "apiVersion must not be empty"),
        ({"fieldsType": ""}, "missing fieldsType in managed fields entry 0"),
        ({"fieldsType": "FieldsV2"}, 'invalid fieldsType "FieldsV2" in managed fields entry 0'),
        ({"fieldsV1": {"odd": {}}}, "missing colon: odd"),
        ({"fieldsV1": {"f:a": 1}}, "a field set is an object"),
    ],
)
def test_an_entry_that_cannot_be_read_is_an_error(change: Any, told: str) -> None:
    with pytest.raises(ValueError, match=f"^{told}$"):
        managed_fields.read([{**GOOD, **change}])


def test_a_list_of_what_may_be_entries_is_known_whatever_they_say() -> None:
    entries: Any
    for entries in ([], [{}], [GOOD, {"time": "2026-01-01T00:00:00Z", "operation": "Odd", "fieldsV1": 1, "more": 1}]):
        assert managed_fields.may_be_read(entries)
    value: Any
    for value in (None, {}, [1], [GOOD, None], [{"time": "bad"}], [{"time": 1}], [{"manager": 1}]):
        assert not managed_fields.may_be_read(value)


def test_owners_of_the_status_come_before_those_of_the_rest_in_conflicts() -> None:
    owners = [
        managed_fields.applier("m", ""),
        managed_fields.applier("m", "status"),
        managed_fields.updater("m", "v1", ""),
    ]

    assert sorted(owners, key=str) == [owners[1], owners[0], owners[2]]


def test_applies_come_before_updates_and_then_the_older_before_the_newer() -> None:
    owners = [
        (Owner("z", "Apply", ""), "3"),
        (Owner("b", "Update", "v1"), ""),
        (Owner("c", "Update", "v1"), "1"),
        (Owner("a", "Update", "v1"), "2"),
        (Owner("a", "Update", "v1", "status"), "2"),
    ]

    written = managed_fields.written({owner: Owned("v1", {"f:a": {}}, time) for owner, time in reversed(owners)})

    assert [(one["manager"], one.get("time", ""), one.get("subresource", "")) for one in written] == [
        (owner.manager, time, owner.subresource) for owner, time in owners
    ]
    assert managed_fields.owners(written) == managed_fields.read(written)


def _updaters(count: int, version: str = "v1") -> dict[Owner, Owned]:
    return {
        Owner(f"m{number:02}", "Update", version): Owned(version, {f"f:{number}": {}}, f"{number:02}")
        for number in range(count)
    }


def test_too_many_updates_are_put_together_from_the_oldest_on() -> None:
    ten = _updaters(10)

    capped = managed_fields.capped({Owner("a", "Apply", ""): Owned("v1", {"f:a": {}}), **_updaters(12)})

    assert managed_fields.capped(ten) == ten
    assert capped[Owner("ancient-changes", "Update", "v1")] == Owned("v1", {"f:0": {}, "f:1": {}, "f:2": {}}, "02")
    assert sorted(owner.manager for owner in capped if not owner.is_applier) == [
        "ancient-changes",
        *(f"m{number:02}" for number in range(3, 12)),
    ]


def test_what_became_one_before_takes_in_the_next_oldest() -> None:
    bucket = Owner("ancient-changes", "Update", "v1")
    known = {**_updaters(10), bucket: Owned("v1", {"f:x": {}}, "00")}

    capped = managed_fields.capped(known)
    capped_again = managed_fields.capped({**capped, Owner("new", "Update", "v1"): Owned("v1", {"f:new": {}}, "99")})

    assert len(capped) == len(capped_again) == 10
    assert set(capped[bucket].fields) < set(capped_again[bucket].fields)
    assert "f:x" in capped_again[bucket].fields


def test_updates_are_put_together_by_version() -> None:
    capped = managed_fields.capped({**_updaters(6), **_updaters(6, "v2")})

    ancient = {owner.api_version: len(owned.fields) for owner, owned in capped.items() if "ancient" in owner.manager}
    assert len(capped) == 10
    assert ancient == {"v1": 2, "v2": 2}
