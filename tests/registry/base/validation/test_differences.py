"""Differences of structs, line by line."""

from typing import Any

from aio_apiserver.registry.base.validation import differences


def test_changed_lines_stand_among_their_neighbours() -> None:
    old = {"A": 1, "B": [], "C": {"D": "<x>"}, "E": None, "F": 2, "G": 3}

    assert differences.unified(old, {**old, "B": ["y"]}) == (
        "@@ -1,6 +1,8 @@\n"
        " {\n"
        '  "A": 1,\n'
        '- "B": [],\n'
        '+ "B": [\n'
        '+  "y"\n'
        "+ ],\n"
        '  "C": {\n'
        '   "D": "\\u003cx\\u003e"\n'
        "  },\n"
    )


def test_equal_structs_have_none() -> None:
    assert differences.unified({"A": [1]}, {"A": [1]}) == ""


def test_of_what_is_large_the_beginning_is_told_under_its_own_numbers() -> None:
    old: dict[str, Any] = {"A": [{"B": number} for number in range(30_000)]}
    new = {"A": [{"B": -number if number > 20_000 else number} for number in range(30_000)]}

    told = differences.unified(old, new)

    assert told.startswith("@@ -60004,")
    assert '-   "B": 20001\n' in told
    assert told.count("\n") < 10_000
