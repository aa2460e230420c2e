"""What holds for every patch, however odd."""

from contextlib import suppress
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.registry.base.errors import StatusError, Unprocessable
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.patch import documents, json_patch, merge, strategic
from aio_apiserver.registry.machinery.schema import DecodeError

DEPLOYMENT = schema.builtin().type_for("apps", "v1", "Deployment")

keys = st.sampled_from(["a", "b", "c", "0", "-", ""])
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "y"])
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
)
objects = st.dictionaries(keys, anything, max_size=4)
pointers = st.lists(keys | st.sampled_from(["1", "-1", "~0", "~1"]), max_size=3).map(
    lambda steps: "/".join(["", *steps])
)
operations = st.lists(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]), "path": pointers},
        optional={"from": pointers, "value": anything},
    ),
    max_size=4,
)

names = st.sampled_from(["a", "b", "c"])
directives = st.sampled_from(["delete", "replace", "merge", "odd"])
ports = st.fixed_dictionaries({}, optional={"containerPort": st.integers(1, 3), "name": names, "$patch": directives})
containers = st.fixed_dictionaries(
    {}, optional={"name": names, "image": names | st.none(), "$patch": directives, "ports": st.lists(ports, max_size=3),
                  "args": st.lists(names, max_size=2), "odd": anything},
)  # fmt: skip
orders = st.lists(st.fixed_dictionaries({}, optional={"name": names}) | scalars, max_size=3)
metadata = st.fixed_dictionaries(
    {},
    optional={
        "finalizers": st.lists(names, max_size=3) | anything,
        "labels": st.dictionaries(names, names | st.none(), max_size=3) | anything,
        "$deleteFromPrimitiveList/finalizers": st.lists(names, max_size=3) | anything,
        "$setElementOrder/finalizers": st.lists(names, max_size=3) | anything,
        "$retainKeys": st.lists(st.sampled_from(["labels", "finalizers"]), max_size=2) | anything,
    },
)
pod_specs = st.fixed_dictionaries(
    {},
    optional={
        "containers": st.lists(containers, max_size=3) | anything,
        "$setElementOrder/containers": orders,
        "$patch": directives,
    },
)
patches = st.builds(
    lambda meta, spec: {"metadata": meta, "spec": {"template": {"spec": spec}}},
    metadata | anything,
    pod_specs | anything,
)
plain_containers = st.lists(
    st.fixed_dictionaries({"name": names}, optional={"image": names}), max_size=3, unique_by=lambda one: one["name"]
)
deployments = st.builds(
    lambda finalizers, labels, items: {
        "metadata": {"finalizers": finalizers, "labels": labels},
        "spec": {"template": {"spec": {"containers": items}}},
    },
    st.lists(names, max_size=3, unique=True),
    st.dictionaries(names, names, max_size=3),
    plain_containers,
)


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def difference(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The smallest merge patch that makes one object out of another."""
    patch: dict[str, Any] = dict.fromkeys(old.keys() - new.keys())
    for name, value in new.items():
        before = old.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            if inner := difference(before, value):
                patch[name] = inner
        elif name not in old or orjson.dumps(before) != orjson.dumps(value):
            patch[name] = value
    return patch


def copied(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value))


@given(objects.map(without_nulls), objects.map(without_nulls))
def test_merging_the_difference_of_two_objects_makes_the_one_the_other(old: Any, new: Any) -> None:
    patch = difference(copied(old), copied(new))

    result = merge.merged(copied(old), copied(patch))

    assert result == new
    assert difference(old, result) == patch


@given(objects, objects)
def test_a_merge_patch_changes_nothing_when_it_is_applied_again(document: Any, patch: Any) -> None:
    once = merge.merged(document, copied(patch))

    assert merge.merged(copied(once), copied(patch)) == once


@given(objects, operations)
def test_operations_make_json_or_do_not_apply(document: Any, patch: Any) -> None:
    assert documents.operations_mismatch(patch, is_strict=True) == ""
    with suppress(Unprocessable):
        assert orjson.dumps(json_patch.applied(document, patch))


@given(objects, keys.filter(bool), anything)
def test_what_was_added_can_be_tested_and_removed(document: Any, name: str, value: Any) -> None:
    before = {key: item for key, item in document.items() if key != name}
    path = f"/{name}"
    patch = [
        {"op": "add", "path": path, "value": value},
        {"op": "test", "path": path, "value": copied(value)},
        {"op": "remove", "path": path},
    ]

    assert json_patch.applied(document, patch) == before


@given(deployments, patches)
def test_a_strategic_merge_makes_an_object_or_says_why_not(document: Any, patch: Any) -> None:
    with suppress(StatusError, DecodeError):
        assert isinstance(DEPLOYMENT.convert(strategic.merged(document, patch, DEPLOYMENT.node)).obj, dict)


@given(deployments, deployments)
def test_a_strategic_merge_changes_nothing_when_it_is_applied_again(document: Any, patch: Any) -> None:
    once = strategic.merged(document, copied(patch), DEPLOYMENT.node)

    assert strategic.merged(copied(once), copied(patch), DEPLOYMENT.node) == once


@given(plain_containers, plain_containers)
def test_a_merged_list_has_the_elements_of_both_in_the_order_of_the_patch(present: Any, patch: Any) -> None:
    def merged_names() -> list[str]:
        old = {"spec": {"template": {"spec": {"containers": copied(present)}}}}
        new = {"spec": {"template": {"spec": {"containers": copied(patch)}}}}
        result = strategic.merged(old, new, DEPLOYMENT.node)
        return [one["name"] for one in result["spec"]["template"]["spec"]["containers"]]

    wanted = [one["name"] for one in patch]
    kept = [one["name"] for one in present if one["name"] not in wanted]

    assert [name for name in merged_names() if name in wanted] == wanted
    assert [name for name in merged_names() if name not in wanted] == kept
