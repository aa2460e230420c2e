"""Strategic merge patch: merges by type, and directives."""

from typing import Any

import pytest

from aio_apiserver.registry.base.errors import BadRequest, StatusError, Unprocessable
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.patch import strategic

POD = schema.builtin().type_for("", "v1", "Pod").node
DEPLOYMENT = schema.builtin().type_for("apps", "v1", "Deployment").node
CONFIG_MAP = schema.builtin().type_for("", "v1", "ConfigMap").node


def containers(patch: list[Any], present: list[Any] | None = None, **directives: Any) -> Any:
    """The containers of a pod after a patch."""
    original = {"spec": {"containers": present if present is not None else [{"name": "a"}, {"name": "b"}]}}
    result = strategic.merged(original, {"spec": {"containers": patch, **directives}}, POD)
    return result["spec"]["containers"]


def finalizers(patch: dict[str, Any], present: list[str]) -> Any:
    """The finalizers of an object after a patch of its metadata."""
    return strategic.merged({"metadata": {"finalizers": present}}, {"metadata": patch}, POD)["metadata"]["finalizers"]


def names(elements: list[dict[str, Any]]) -> str:
    return "".join(element["name"] for element in elements)


def test_elements_with_a_merge_key_are_merged() -> None:
    assert containers([{"name": "b", "image": "i"}]) == [{"name": "a"}, {"name": "b", "image": "i"}]


def test_new_elements_go_to_the_front_and_patched_ones_take_the_order_of_the_patch() -> None:
    assert names(containers([{"name": "n"}])) == "nab"
    assert names(containers([{"name": "b"}, {"name": "a"}])) == "ba"
    assert names(containers([{"name": "a"}, {"name": "n"}])) == "anb"
    assert names(containers([{"name": "b"}, {"name": "n"}])) == "abn"


def test_elements_are_deleted_and_lists_replaced_by_directives() -> None:
    assert names(containers([{"name": "a", "$patch": "delete"}, {"name": "n"}])) == "nb"
    assert names(containers([{"name": "x", "$patch": "delete"}])) == "ab"
    assert names(containers([{"$patch": "replace"}, {"name": "n"}])) == "n"
    assert containers([], []) == []


def test_lists_without_a_strategy_are_replaced() -> None:
    assert containers([{"name": "a", "args": ["x"]}], [{"name": "a", "args": ["y", "z"]}]) == [
        {"name": "a", "args": ["x"]}
    ]


def test_scalars_are_merged_without_doubles() -> None:
    assert finalizers({"finalizers": ["c"]}, ["a", "b"]) == ["c", "a", "b"]
    assert finalizers({"finalizers": ["b", "c", "c"]}, ["a", "b"]) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("deleted", "left"), [(["b"], ["a"]), (["none"], ["a", "b"]), ("a", ["a", "b"]), ([], ["a", "b"])]
)
def test_scalars_are_deleted_by_a_directive(deleted: Any, left: list[str]) -> None:
    assert finalizers({"$deleteFromPrimitiveList/finalizers": deleted}, ["a", "b"]) == left


def test_a_deletion_from_what_is_no_list_or_not_there_does_nothing() -> None:
    patch = {"metadata": {"$deleteFromPrimitiveList/labels": ["x"], "$deleteFromPrimitiveList/nope": ["x"]}}

    assert strategic.merged({"metadata": {"labels": {"x": "y"}}}, patch, POD) == {"metadata": {"labels": {"x": "y"}}}


def test_null_removes_a_member_and_means_nothing_in_a_new_one() -> None:
    result = strategic.merged(
        {"spec": {"nodeName": "n"}}, {"spec": {"nodeName": None, "dnsConfig": {"options": [{"name": None}]}}}, POD
    )

    assert result == {"spec": {"dnsConfig": {"options": [{}]}}}


def test_maps_are_replaced_and_emptied_by_directives() -> None:
    def labels(patch: dict[str, Any]) -> Any:
        return strategic.merged({"metadata": {"labels": {"a": "1"}}}, {"metadata": {"labels": patch}}, POD)["metadata"]

    assert labels({"$patch": "replace", "b": "2"}) == {"labels": {"b": "2"}}
    assert labels({"$patch": "delete", "b": "2"}) == {"labels": {}}


def test_a_directive_for_what_is_not_there_adds_nothing() -> None:
    patch = {"metadata": {"labels": {"$patch": "delete"}}, "spec": {"containers": [{"name": "a", "$patch": "delete"}]}}

    assert strategic.merged({"metadata": {}}, patch, POD) == {"metadata": {}, "spec": {"containers": []}}


def test_retained_keys_clear_all_others() -> None:
    present = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": None}}}

    assert strategic.merged(present, patch, DEPLOYMENT) == {"spec": {"strategy": {"type": "Recreate"}}}
    assert patch == {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}}


@pytest.mark.parametrize("keys", ["type", [], [["type"]]])
def test_retained_keys_must_list_what_the_patch_sets(keys: Any) -> None:
    with pytest.raises(BadRequest, match=r"^invalid patch format of retainKeys$"):
        strategic.merged(
            {"spec": {"strategy": {}}}, {"spec": {"strategy": {"$retainKeys": keys, "type": "x"}}}, DEPLOYMENT
        )


@pytest.mark.parametrize(
    ("order", "patch", "expected"),
    [
        ("ba", "", "ba"),
        ("bna", "n", "bna"),
        ("b", "", "ab"),
        ("ca", "", "bca"),
        ("ba", "b", "ba"),
    ],
)
def test_an_element_order_counts_more_than_that_of_the_lists(order: str, patch: str, expected: str) -> None:
    present = [{"name": name} for name in ("abc" if "c" in order else "ab")]
    asked = [{"name": name} for name in order]

    assert (
        names(containers([{"name": n} for n in patch], present, **{"$setElementOrder/containers": asked})) == expected
    )


def test_an_element_order_alone_sorts_what_is_there() -> None:
    patch = {"metadata": {"$setElementOrder/finalizers": ["b", "x", "a"], "$setElementOrder/ownerReferences": []}}

    assert strategic.merged({"metadata": {"finalizers": ["a", "b"]}}, patch, POD) == {
        "metadata": {"finalizers": ["b", "a"]}
    }


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"$patch": 5}, "unknown patch type: %!s(int64=5) in map: map[$patch:5]"),
        ({"$patch": None}, "unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]"),
        ({"$patch": ["a", True]}, "unknown patch type: [a %!s(bool=true)] in map: map[$patch:[a true]]"),
        ({"$patch": {"a": 1.5}}, "unknown patch type: map[a:%!s(float64=1.5)] in map: map[$patch:map[a:1.5]]"),
        (
            {"metadata": {"labels": {"$patch": "merge", "d": "4"}}},
            "unknown patch type: merge in map: map[$patch:merge d:4]",
        ),
        (
            {"spec": {"containers": [{"name": "a", "$patch": "merge"}]}},
            "merging lists cannot yet be specified in the patch",
        ),
        (
            {"spec": {"containers": [{"image": "i"}]}},
            "map: map[image:i] does not contain declared merge key: name",
        ),
        (
            {"spec": {"containers": [{"$patch": "delete"}]}},
            "map: map[$patch:delete] does not contain declared merge key: name",
        ),
        (
            {"spec": {"containers": ["x"]}},
            "list element types are not identical: [[map[name:a]] [x]]",
        ),
        ({"spec": {"containers": [None]}}, "list element types are not identical: [[map[name:a]] [<nil>]]"),
        ({"spec": {"$setElementOrder/containers": 1}}, "expected a []interface {}, but received a int64"),
        ({"spec": {"$setElementOrder/containers": None}}, "expected a []interface {}, but received a %!s(<nil>)"),
        (
            {"spec": {"$setElementOrder/containers": [{"name": "b"}, "x"]}},
            "value for key 1 is not a map",
        ),
        (
            {"spec": {"$setElementOrder/containers": [{"name": "a"}, "x"]}},
            "expected a map[string]interface {}, but received a string",
        ),
        (
            {"spec": {"$setElementOrder/containers": [{"nope": "a"}]}},
            "map: map[nope:a] does not contain declared merge key: name",
        ),
        (
            {"spec": {"$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "z"}]}},
            "The order in patch list:\n[map[name:z]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
        ),
        (
            {"metadata": {"$setElementOrder/labels": []}},
            "expected a []interface {}, but received a map[string]interface {}",
        ),
        ({"metadata": {"$setElementOrder/annotations": []}}, "expected slice or array type, but got: struct"),
        (
            {"metadata": {"$setElementOrder/nope": []}},
            'unable to find api field in struct ObjectMeta for the json field "nope"',
        ),
        (
            {"spec": {"$setElementOrder/tolerations": [], "tolerations": []}},
            "map: map[key:k] does not contain declared merge key: ",
        ),
        (
            {"metadata": {"$setElementOrder/finalizers": ["x"], "finalizers": []}},
            "no elements in any of the given slices",
        ),
    ],
)
def test_what_a_merge_cannot_make_sense_of_is_told_in_words_of_go(patch: dict[str, Any], message: str) -> None:
    present = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "a"}], "tolerations": [{"key": "k"}]},
    }

    with pytest.raises(StatusError) as caught:
        strategic.merged(present, patch, POD)

    assert (caught.value.message, caught.value.code, caught.value.reason) == (message, 500, "")


@pytest.mark.parametrize(
    ("directive", "message"),
    [
        ("$deleteFromPrimitiveList", "invalid patch format of primitive list"),
        ("$deleteFromPrimitiveListX/finalizers", "invalid patch format of primitive list"),
        ("$setElementOrder", "invalid patch format of setElementOrder list"),
    ],
)
def test_directives_must_name_their_list(directive: str, message: str) -> None:
    with pytest.raises(BadRequest, match=f"^{message}$"):
        strategic.merged({"metadata": {}}, {directive: ["x"]}, POD)


def test_lists_of_lists_are_not_merged() -> None:
    with pytest.raises(Unprocessable):
        finalizers({"finalizers": [["x"]]}, ["a"])


def test_long_lists_take_no_longer_than_their_length() -> None:
    many = [f"f{index}" for index in range(100_000)]

    assert len(finalizers({"finalizers": many}, many[::-1])) == 100_000
