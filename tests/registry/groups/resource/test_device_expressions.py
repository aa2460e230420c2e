"""Tests the CEL selectors for devices."""

import pytest

from aio_apiserver.registry.groups.resource import device_expressions


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("device.attributes['a'].b", ""),
        ("device.attributes['a'].b.matches('x+')", ""),
        ("device.attributes.exists(a, device.attributes[a].exists(b, device.driver.matches(a)))", ""),
        ("duration('1s')", "must evaluate to bool or the unknown type, not google.protobuf.Duration"),
        ("device.attributes['a']", "not map(string, google.protobuf.Any)"),
        ("device.attributes[true].b", "applied to '(map(string, map(string, any)), bool)'"),
        ("device.attributes['a'].b.exists(x, x == 1)", "expression of type 'any' cannot be range of a comprehension"),
    ],
)
def test_expressions_are_bool_and_their_cost_uses_the_size_of_attributes(expression: str, wrong: str) -> None:
    found = [str(error) for error in device_expressions.validate(expression, "e")]

    assert [wrong in error for error in found] == ([True] if wrong else [])
