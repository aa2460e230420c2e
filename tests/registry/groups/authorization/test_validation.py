"""Tests the validation of access reviews."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.authorization import validation

PATH = "spec.resourceAttributes.labelSelector.requirements[0]"


@pytest.mark.parametrize(
    ("requirement", "paths"),
    [
        ({"key": "a", "operator": "In", "values": ["b"]}, []),
        ({"key": "a", "operator": "NewerThanThis"}, []),
        ({"key": "a b", "operator": "In"}, [f"{PATH}.values", f"{PATH}.key"]),
        ({"key": "a", "operator": "Exists", "values": ["::1"]}, [f"{PATH}.values", f"{PATH}.values[0]"]),
    ],
)
def test_label_selectors_are_validated_except_for_unknown_operators(
    requirement: dict[str, Any], paths: list[str]
) -> None:
    asked = {"resourceAttributes": {"labelSelector": {"requirements": [requirement]}}}

    found = validation.validate_self({"metadata": {}, "spec": asked})

    assert [error.path for error in found] == paths
