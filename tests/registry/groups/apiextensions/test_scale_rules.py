"""Tests the replicas and the selector of a custom resource's scale."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.apiextensions import scale_rules


@pytest.mark.parametrize(("obj", "value"), [({}, None), ({"spec": None}, None), ({"spec": {"n": 1}}, 1)])
def test_what_is_not_there_is_nothing(obj: dict[str, Any], value: int | None) -> None:
    assert scale_rules.at(obj, ".spec.n") == value


def test_what_is_in_the_way_is_told_with_the_step_that_failed() -> None:
    message = r"^\.spec\.n accessor error: x is of the type string, expected map\[string\]interface\{\}$"

    with pytest.raises(scale_rules.WrongType, match=message):
        scale_rules.at({"spec": "x"}, ".spec.n")
