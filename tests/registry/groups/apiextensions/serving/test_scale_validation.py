"""Tests the replicas and the selector of a custom resource's scale."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.apiextensions.serving import scale_validation


@pytest.mark.parametrize(("obj", "value"), [({}, None), ({"spec": None}, None), ({"spec": {"n": 1}}, 1)])
def test_a_missing_value_finds_nothing(obj: dict[str, Any], value: int | None) -> None:
    assert scale_validation.at(obj, ".spec.n") == value


def test_an_error_shows_the_step_of_the_path_that_failed() -> None:
    message = r"^\.spec\.n accessor error: x is of the type string, expected map\[string\]interface\{\}$"

    with pytest.raises(scale_validation.WrongType, match=message):
        scale_validation.at({"spec": "x"}, ".spec.n")
