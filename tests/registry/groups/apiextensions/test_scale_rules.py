"""Tests the replicas and the selector of a custom resource's scale."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.apiextensions import scale_rules


@pytest.mark.parametrize(("obj", "value"), [({}, None), ({"spec": None}, None), ({"spec": {"n": 1}}, 1)])
def test_a_missing_value_finds_nothing(obj: dict[str, Any], value: int | None) -> None:
    assert scale_rules.at(obj, ".spec.n") == value


def test_an_error_shows_the_step_of_the_path_that_failed() -> None:
    message = r"^\.spec\.n accessor error: x is of the type string, expected map\[string\]interface\{\}$"

    with pytest.raises(scale_rules.WrongType, match=message):
        scale_rules.at({"spec": "x"}, ".spec.n")
