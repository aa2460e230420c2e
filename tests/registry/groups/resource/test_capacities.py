"""Tests the capacity that a claim may take of a shared device."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.resource import capacities


def errors(policy: dict[str, Any], value: str = "10Gi") -> list[str]:
    return [str(one) for one in capacities.validate_shared({"value": value, "requestPolicy": policy}, "c")]


def test_options_are_in_order_and_hold_the_default() -> None:
    assert errors({"default": "1Gi", "validValues": ["1Gi", "2Gi"]}) == []
    assert errors({"default": "3Gi", "validValues": ["2Gi", "1Gi"]}) == [
        'c.requestPolicy.validValues[1]: Invalid value: "1Gi": values must be sorted in ascending order',
        'c.requestPolicy.validValues: Invalid value: "3Gi": default value is not valid according to the requestPolicy',
    ]


@pytest.mark.parametrize(
    ("limits", "found"),
    [
        ({"min": "1Gi"}, []),
        ({"min": "11Gi"}, ["min is larger than capacity value: 10Gi", "default is less than min: 11Gi"]),
        ({"min": "1Gi", "max": "1Gi"}, ["default is more than max: 1Gi"]),
        ({"min": "1Gi", "step": "1Gi"}, []),
        ({"min": "1Gi", "step": "3Gi"}, ["value is not a multiple of a given step (3Gi) from (1Gi)"]),
        ({"min": "1Gi", "step": "10Gi"}, ["one step 11Gi is larger than capacity value: 10Gi"]),
    ],
)
def test_a_range_has_its_limits(limits: dict[str, str], found: list[str]) -> None:
    told = errors({"default": "2Gi", "validRange": limits})

    assert all(any(why in one for one in told) for why in found)
    assert bool(told) == bool(found)


def test_there_is_a_default_and_one_policy() -> None:
    assert errors({"validValues": ["1"]}) == [
        "c.requestPolicy.default: Required value: required when validValues is defined"
    ]
    assert len(errors({"validValues": ["1"], "validRange": {"min": "1"}, "default": "1"})) == 1
