"""Properties of apply for every schema and object."""

from contextlib import suppress
from functools import reduce
from typing import Any

import orjson
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aio_apiserver.registry.base.errors import ApplyConflict, StatusError
from aio_apiserver.registry.machinery.patch.apply import fields, managed_fields, ownership
from aio_apiserver.registry.machinery.patch.apply.managed_fields import Owned
from aio_apiserver.registry.machinery.patch.apply.unowned import UNOWNED
from tests.registry.machinery.patch.apply.things import cases, copied, manager_of, paths, thing

MANY = settings(max_examples=50)


def filled(value: Any) -> Any:
    """A value without empty maps and lists in maps, since an apply does not keep them."""
    if isinstance(value, dict):
        inner = {name: filled(one) for name, one in value.items()}
        return {name: one for name, one in inner.items() if one not in ({}, [])}
    return [filled(one) for one in value] if isinstance(value, list) else value


def timeless(obj: Any) -> Any:
    """An object with its managers by name; a manager without new fields has no time."""
    managed = {one["manager"]: {**one, "time": ""} for one in obj["metadata"].get("managedFields", ())}
    return {**obj, "metadata": {**obj["metadata"], "managedFields": managed}}


def owned_by(obj: Any, manager: str) -> Any:
    return next((one["fieldsV1"] for one in obj["metadata"].get("managedFields", ()) if one["manager"] == manager), {})


@MANY
@given(cases(2))
def test_merging_and_comparing_gives_back_what_was_merged(case: Any) -> None:
    of, live, config = case[0], *map(filled, case[1:])
    form = manager_of(of).form
    before, wanted = form.versioned(thing(**live)), form.versioned(thing(**config))

    merged = before.merged(wanted)

    change, missing = before.compared(merged), wanted.compared(merged)
    assert not missing.removed
    assert not missing.modified
    assert paths(change.changed) <= paths(wanted.named_field_set())
    assert not paths(fields.outside(change.removed, change.modified))


@MANY
@given(cases(2))
def test_an_apply_changes_nothing_when_it_is_repeated(case: Any) -> None:
    of, live, config = case
    manager = manager_of(of)
    present = manager.apply(None, thing(**live), "other", force=True)

    once = manager.apply(present, thing(**config), "me", force=True)

    assert manager.apply(copied(once), thing(**config), "me", force=True) == once
    assert manager.apply(copied(once), thing(**config), "me", force=False) == once


@MANY
@given(cases(3))
def test_an_apply_that_drops_no_field_of_the_last_one_prunes_nothing(case: Any) -> None:
    of, theirs, mine, more = case
    manager = manager_of(of)
    present = manager.apply(None, thing(**theirs), "they", force=True)
    present = manager.apply(present, thing(**mine), "me", force=True)
    form, owner = manager.form, managed_fields.applier("me", "")
    live, config = form.stored(present), form.versioned(thing(**{**more, **mine}))
    known = managed_fields.owners(present["metadata"].get("managedFields", []))
    wanted = Owned(live.api_version, config.field_set(), "")
    managed = {**known, owner: wanted}
    last = known.get(owner, Owned(live.api_version, fields.NOTHING, ""))

    new = live.merged(config)

    assume(ownership.keeps_all(last, wanted, managed))
    assert ownership.pruned(manager._rules, new, managed, last) == new


@MANY
@given(cases(2))
def test_appliers_of_different_fields_can_come_in_any_order(case: Any) -> None:
    of, one, other = case[0], *map(filled, case[1:])
    one = {name: value for name, value in one.items() if name == "a"}
    other = {name: value for name, value in other.items() if name != "a"}
    manager = manager_of(of)

    first = manager.apply(manager.apply(None, thing(**one), "one", force=False), thing(**other), "other", force=False)
    second = manager.apply(manager.apply(None, thing(**other), "other", force=False), thing(**one), "one", force=False)

    assert timeless(first) == timeless(second)


@MANY
@given(cases(3))
def test_no_apply_removes_what_another_manager_owns(case: Any) -> None:
    of, theirs, mine, later = case[0], *map(filled, case[1:])
    manager = manager_of(of)
    obj = first = manager.apply(None, filled(thing(**theirs)), "they", force=False)
    with suppress(ApplyConflict):
        obj = manager.apply(obj, thing(**mine), "me", force=False)

    with suppress(ApplyConflict):
        obj = manager.apply(obj, thing(**later), "me", force=False)

    change = manager.form.printed(first).compared(manager.form.printed(obj))
    lost = fields.union(change.removed, change.modified)
    owned = manager.form.printed(obj).named(owned_by(first, "they"))
    assert owned_by(obj, "they") == owned_by(first, "they")
    assert not fields.intersection(lost, owned)


@MANY
@given(cases(1))
def test_the_short_way_of_a_creation_says_the_same_as_a_comparison(case: Any) -> None:
    of, spec = case
    form = manager_of(of).form
    created = form.printed({"metadata": {"name": "a", "labels": {"x": "y"}, "finalizers": ["f"]}, "spec": spec})

    found = form.created_fields(created.value)

    assert found == fields.difference(form.nothing.compared(created).changed, UNOWNED)


@MANY
@given(cases(1))
def test_a_set_of_fields_comes_back_as_the_same_bytes(case: Any) -> None:
    of, spec = case
    form = manager_of(of).form
    written = orjson.dumps(form.versioned(thing(**spec)).field_set())

    assert orjson.dumps(fields.decoded(orjson.loads(written))) == written


elements = st.sampled_from(["f:a", "f:b", 'k:{"name":"a"}', 'k:{"name":"b","port":1}', 'v:"x"', "v:1", "i:0"])
trees: Any = st.recursive(
    st.just({}), lambda inner: st.dictionaries(elements | st.just("."), inner, max_size=3), max_leaves=6
)
sets = st.dictionaries(elements, trees, max_size=3).map(fields.decoded)


@MANY
@given(trees)
def test_what_was_read_once_is_read_as_the_same(tree: Any) -> None:
    found = fields.decoded(tree)

    assert orjson.dumps(fields.decoded(copied(found))) == orjson.dumps(found)


@MANY
@given(sets, sets)
def test_sets_of_fields_are_sets_of_their_members(one: Any, other: Any) -> None:
    below = {path for path in paths(one) for end in range(len(path)) if path[: end + 1] in paths(other)}

    assert paths(fields.union(one, other)) == paths(one) | paths(other)
    assert paths(fields.intersection(one, other)) == paths(one) & paths(other)
    assert paths(fields.difference(one, other)) == paths(one) - paths(other)
    assert paths(fields.outside(one, other)) == paths(one) - below
    assert all(fields.has(one, path) for path in paths(one))
    assert fields.of_paths(paths(one)) == one


@MANY
@given(sets, sets)
def test_operations_leave_sets_in_their_one_form(one: Any, other: Any) -> None:
    for operation in (fields.union, fields.intersection, fields.difference, fields.outside):
        found = operation(one, other)

        assert orjson.dumps(fields.decoded(copied(found))) == orjson.dumps(found)


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["", "a", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "key", "port"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@MANY
@given(cases(0), anything, anything, anything)
def test_whatever_comes_is_recorded_or_told(case: Any, live: Any, new: Any, config: Any) -> None:
    manager = manager_of(case[0])
    before: Any = {"metadata": {"name": "a"}, "spec": live}
    manager.track(None, before, "maker")
    after = {"metadata": copied(before["metadata"]), "spec": new}

    manager.track(copied(before), after, "changer")
    with suppress(StatusError):
        manager.apply(after, {**thing(), "spec": config}, "applier", force=True)
    with suppress(StatusError):
        manager.apply(before, {**thing(), "spec": config}, "applier", force=False)


@MANY
@given(st.lists(cases(1), max_size=5))
def test_the_union_of_many_sets_is_that_of_one_after_the_other(found: Any) -> None:
    sets = [manager_of(of).form.versioned(thing(**filled(value))).field_set() for of, value in found]

    together = fields.union_of(sets)

    one_by_one = reduce(fields.union, sets, fields.NOTHING)
    assert orjson.dumps(together) == orjson.dumps(one_by_one)
