"""JSON merge patch."""

from typing import Any

import pytest

from aio_apiserver.registry.machinery.patch import merge


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b"}, {"x": None}, {"a": "b"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": {"b": "c"}}, {"a": [1]}, {"a": [1]}),
        ({"a": [1, 2]}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ({"a": {"b": 1}}, {"a": [{"x": None}]}, {"a": [{"x": None}]}),
        ({}, {"a": [None, {"x": None, "y": {"z": None}}]}, {"a": [None, {"y": {}}]}),
        ({"a": None}, {"a": {"b": None}}, {"a": {}}),
    ],
)
def test_members_are_set_merged_and_removed(document: Any, patch: Any, expected: Any) -> None:
    assert merge.merged(document, patch) == expected


def test_objects_that_the_merge_looked_into_come_out_sorted() -> None:
    result = merge.merged({"b": {"y": 1, "x": 1}, "a": {"y": 1, "x": 1}}, {"b": {"z": {"2": 0, "1": 0}}})

    assert [list(result), list(result["a"]), list(result["b"]), list(result["b"]["z"])] == [
        ["a", "b"],
        ["y", "x"],
        ["x", "y", "z"],
        ["1", "2"],
    ]
