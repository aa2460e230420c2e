"""JSON Patch, with the leniency of kube-apiserver."""

from typing import Any

import pytest

from aio_apiserver.registry.base.errors import RequestEntityTooLarge, Unprocessable
from aio_apiserver.registry.machinery.patch import json_patch, texts
from aio_apiserver.registry.machinery.schema import strict


def document() -> dict[str, Any]:
    return {"data": {"k": "v", "n": "1"}, "list": ["a", "b", "c"], "count": 2}


def applied(*operations: dict[str, Any]) -> Any:
    return json_patch.applied(document(), operations)


def test_the_six_operations() -> None:
    result = applied(
        {"op": "test", "path": "/data/k", "value": "v"},
        {"op": "add", "path": "/data/x", "value": {"deep": [1]}},
        {"op": "replace", "path": "/data/n", "value": "2"},
        {"op": "copy", "from": "/data/x", "path": "/data/y"},
        {"op": "move", "from": "/data/k", "path": "/data/z"},
        {"op": "remove", "path": "/data/x"},
    )

    assert result["data"] == {"n": "2", "y": {"deep": [1]}, "z": "v"}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/list/-", "value": "d"}, ["a", "b", "c", "d"]),
        ({"op": "add", "path": "/list/0", "value": "d"}, ["d", "a", "b", "c"]),
        ({"op": "add", "path": "/list/3", "value": "d"}, ["a", "b", "c", "d"]),
        ({"op": "add", "path": "/list/-1", "value": "d"}, ["a", "b", "c", "d"]),
        ({"op": "add", "path": "/list/-4", "value": "d"}, ["d", "a", "b", "c"]),
        ({"op": "add", "path": "/list/+1", "value": "d"}, ["a", "d", "b", "c"]),
        ({"op": "remove", "path": "/list/01"}, ["a", "c"]),
        ({"op": "remove", "path": "/list/-1"}, ["a", "b"]),
        ({"op": "replace", "path": "/list/-3", "value": "d"}, ["d", "b", "c"]),
        ({"op": "move", "from": "/list/0", "path": "/list/2"}, ["b", "c", "a"]),
        ({"op": "copy", "from": "/list/0", "path": "/list/-"}, ["a", "b", "c", "a"]),
    ],
)
def test_indexes_may_count_from_either_end(operation: dict[str, Any], expected: list[str]) -> None:
    assert applied(operation)["list"] == expected


@pytest.mark.parametrize(
    ("operation", "data"),
    [
        ({"op": "replace", "path": "/data/new", "value": "x"}, {"k": "v", "n": "1", "new": "x"}),
        ({"op": "add", "path": "/data/new"}, {"k": "v", "n": "1", "new": None}),
        ({"op": "copy", "from": "/data/none", "path": "/data/new"}, {"k": "v", "n": "1", "new": None}),
        ({"op": "test", "path": "/data/none", "value": None}, {"k": "v", "n": "1"}),
        ({"op": "test", "path": "/data/none"}, {"k": "v", "n": "1"}),
        ({"op": "add", "path": "anything/data", "value": {}}, {}),
        ({"op": "add", "path": "/data/", "value": "x"}, {"k": "v", "n": "1", "": "x"}),
        ({"op": "add", "path": "/data/a~1b~0c~01", "value": "x"}, {"k": "v", "n": "1", "a/b~c~1": "x"}),
    ],
)
def test_what_the_standard_would_not_have(operation: dict[str, Any], data: dict[str, Any]) -> None:
    assert applied(operation)["data"] == data


@pytest.mark.parametrize(
    "operation",
    [
        {},
        {"op": "frob", "path": "/data"},
        {"op": "ADD", "path": "/data"},
        {"op": ["add"], "path": "/data"},
        {"op": "add", "value": 1},
        {"op": "add", "path": 5, "value": 1},
        {"op": "add", "path": "", "value": {}},
        {"op": "remove", "path": ""},
        {"op": "remove", "path": "/"},
        {"op": "remove", "path": "/data/none"},
        {"op": "remove", "path": "/none/x"},
        {"op": "remove", "path": "/count/x"},
        {"op": "remove", "path": "/list/-"},
        {"op": "remove", "path": "/list/3"},
        {"op": "remove", "path": "/list/-4"},
        {"op": "remove", "path": "/list/1_0"},
        {"op": "add", "path": "/list/4", "value": "d"},
        {"op": "add", "path": "/list/-5", "value": "d"},
        {"op": "add", "path": "/list/x", "value": "d"},
        {"op": "replace", "path": "/list/3", "value": "d"},
        {"op": "replace", "path": "/list/99999999999999999999", "value": "d"},
        {"op": "replace", "path": "", "value": 5},
        {"op": "replace", "path": ""},
        {"op": "move", "path": "/data/x"},
        {"op": "move", "from": "/data", "path": "/data/inside/itself"},
        {"op": "copy", "from": "/none/x", "path": "/data/x"},
        {"op": "test", "path": "/data/k", "value": "w"},
        {"op": "test", "path": "/data/k", "value": None},
        {"op": "test", "path": "/count", "value": 2.0},
        {"op": "test", "path": "/count", "value": "2"},
        {"op": "test", "path": "/count", "value": True},
        {"op": "test", "path": "/data", "value": {"k": "v"}},
        {"op": "test", "path": "/list", "value": ["a", "c", "b"]},
    ],
)
def test_what_does_not_apply_is_refused_without_a_reason(operation: dict[str, Any]) -> None:
    with pytest.raises(Unprocessable):
        applied(operation)


def test_an_operation_of_null_does_not_apply() -> None:
    with pytest.raises(Unprocessable):
        json_patch.applied(document(), [None])


def test_the_whole_document_can_be_tested_and_replaced() -> None:
    result = applied({"op": "test", "path": "", "value": document()}, {"op": "replace", "path": "", "value": ["x"]})

    assert result == ["x"]


def test_a_copy_is_not_the_same_object() -> None:
    result = applied(
        {"op": "copy", "from": "/data", "path": "/other"}, {"op": "add", "path": "/other/only", "value": "here"}
    )

    assert "only" not in result["data"]


def test_a_number_that_knows_its_text_can_be_copied_and_tested() -> None:
    literal = strict.with_literals(b"1E3")

    result = applied(
        {"op": "add", "path": "/a", "value": literal},
        {"op": "copy", "from": "/a", "path": "/b"},
        {"op": "test", "path": "/b", "value": literal},
    )

    assert texts.written(result["a"]) == b"1E3"


def test_members_that_a_patch_says_twice_stay_so_until_an_operation_looks_into_them() -> None:
    operations = texts.as_written(
        b'[{"op": "add", "path": "/a", "value": {"x": {"k": 1, "k": 2e0}}},'
        b' {"op": "add", "path": "/b", "value": {"k": 1, "k": 2}},'
        b' {"op": "test", "path": "/b", "value": {"k": 2}}, {"op": "add", "path": "/b/c", "value": 3}]'
    )

    result = json_patch.applied({}, operations)

    assert texts.written(result) == b'{"a":{"x":{"k":1,"k":2e0}},"b":{"c":3,"k":2}}'


def test_objects_on_the_way_come_out_sorted() -> None:
    result = json_patch.applied(
        {"b": {"y": {"2": 0, "1": 0}, "x": 0}, "a": {"2": 0, "1": 0}}, [{"op": "add", "path": "/b/c", "value": 0}]
    )

    assert [list(result), list(result["b"]), list(result["b"]["y"])] == [["a", "b"], ["c", "x", "y"], ["2", "1"]]


def test_copies_of_objects_on_the_way_are_sorted_and_stay_so() -> None:
    result = json_patch.applied(
        {"a": [{"y": {"2": 0, "1": 0}, "x": 0}]},
        [
            {"op": "add", "path": "/a/0/n", "value": 0},
            {"op": "copy", "from": "/a", "path": "/b"},
            {"op": "add", "path": "/b/0/m", "value": 0},
        ],
    )

    (copied,) = result["b"]
    assert [list(copied), list(copied["y"])] == [["m", "n", "x", "y"], ["2", "1"]]
    assert list(result["a"][0]) == ["n", "x", "y"]


def test_ten_thousand_operations_are_carried_out_and_no_more() -> None:
    operation = {"op": "test", "path": "/data/none", "value": None}

    assert json_patch.applied(document(), [operation] * 10_000)
    with pytest.raises(RequestEntityTooLarge, match="in a JSON patch is 10000, got 10001"):
        json_patch.applied(document(), [operation] * 10_001)


def test_copies_cannot_outgrow_the_limit() -> None:
    big = {"big": "x" * 1024 * 1024}
    operations = [{"op": "copy", "from": "/big", "path": f"/c{index}"} for index in range(3)]

    assert len(json_patch.applied(dict(big), operations[:2])) == 3
    with pytest.raises(Unprocessable):
        json_patch.applied(dict(big), operations)


@pytest.mark.parametrize(
    ("document", "path"),
    [({"list": [1] * 100_000}, "/list/0"), ({"a": {"a": {"a": {}}}}, "/a/a/a" + "/" * 5_000)],
)
def test_long_work_is_refused(document: dict[str, Any], path: str) -> None:
    with pytest.raises(Unprocessable):
        json_patch.applied(document, [{"op": "add", "path": path, "value": 1}] * 10_000)


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        ({"op": "add", "path": "/no/x"}, 'add operation does not apply: doc is missing path: "/no/x": missing value'),
        (
            {"op": "remove", "path": "/data/no"},
            "error in remove for path: '/data/no': Unable to remove nonexistent key: no",
        ),
        ({"op": "replace", "path": "/no/x"}, "replace operation does not apply: doc is missing path: /no/x: missing"),
        (
            {"op": "replace", "path": "/list/9"},
            "replace operation does not apply: doc is missing key: /list/9: missing",
        ),
        ({"op": "test", "path": "/no/x"}, "test operation does not apply: is missing path: /no/x: missing value"),
        (
            {"op": "move", "from": "/no/x", "path": "/data/x"},
            "move operation does not apply: doc is missing from path: /no/x",
        ),
        ({"op": "move", "from": "/data/no", "path": "/data/x"}, "error in move for path: 'no': "),
        ({"op": "copy", "from": "/data/k", "path": "/no/x"}, "doc is missing destination path: /no/x: missing value"),
        ({"op": "copy", "from": "/list/9", "path": "/data/x"}, "error in copy for from: '/list/9': "),
    ],
)
def test_policies_and_webhooks_are_told_which_pointer_of_an_operation_misses(
    operation: dict[str, Any], why: str
) -> None:
    document = {"data": {"k": "v"}, "list": ["a"]}

    with pytest.raises(json_patch.Inapplicable) as found:
        json_patch.applied(document, [operation])

    assert why in found.value.why
