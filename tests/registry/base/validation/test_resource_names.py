"""Names of resources, and amounts of them."""

import pytest

from aio_apiserver.registry.base.validation import resource_names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cpu", []),
        ("hugepages-2Mi", []),
        ("example.com/gpu", []),
        (
            "pods-of-mine",
            [
                "must be a standard resource type or fully qualified",
                "must be a standard resource for containers",
            ],
        ),
        ("pods", ["must be a standard resource for containers"]),
        ("requests.example.com/gpu", ["doesn't follow extended resource name standard"]),
    ],
)
def test_containers_ask_for_resources_that_they_can_have(name: str, expected: list[str]) -> None:
    assert [error.detail for error in resource_names.validate_container_name(name, "x")] == expected


@pytest.mark.parametrize(
    ("name", "amount", "expected"),
    [
        ("cpu", "100m", []),
        ("cpu", "-1", ["must be greater than or equal to 0"]),
        ("example.com/gpu", "500m", ["must be an integer"]),
    ],
)
def test_amounts_are_not_negative_and_whole_where_they_are_counted(name: str, amount: str, expected: list[str]) -> None:
    assert [error.detail for error in resource_names.validate_amount(name, amount, "x")] == expected


@pytest.mark.parametrize(("amount", "is_odd"), [("4Mi", False), ("3Mi", True), ("0", False)])
def test_huge_pages_come_whole(amount: str, is_odd: bool) -> None:
    assert resource_names.is_divisible("hugepages-2Mi", amount) is not is_odd


@pytest.mark.parametrize(("amount", "is_odd"), [("1Gi", False), ("100m", True), ("1Ei", True), ("10P", False)])
def test_bytes_that_are_not_whole_are_warned_of(amount: str, is_odd: bool) -> None:
    assert bool(resource_names.warn_of_fractions({"memory": amount}, "x")) is is_odd
