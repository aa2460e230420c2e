"""The type that a body states."""

from typing import Any

import pytest

from aio_apiserver.registry.generic.bodies.contents import BodyContent, UnreadableBody


@pytest.mark.parametrize(
    ("value", "stated"),
    [
        ({}, ("", "", "")),
        ({"apiVersion": "v1", "kind": "Pod"}, ("", "v1", "Pod")),
        ({"apiVersion": "apps/v1", "kind": None}, ("apps", "v1", "")),
        ({"apiVersion": "/v1"}, ("", "v1", "")),
        ({"apiVersion": "apps/"}, ("apps", "", "")),
        ({"KIND": "Pod", "ApiVersion": "v1", "KINDS": 5}, ("", "v1", "Pod")),
        ({"Kind": "Pod", "kind": "Secret"}, ("", "", "Secret")),
    ],
)
def test_a_type_is_read_in_whatever_letters_it_is_stated(value: dict[str, Any], stated: tuple[str, str, str]) -> None:
    assert BodyContent(value).type() == stated


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"apiVersion": "a/b/c"}, r"^unexpected GroupVersion string: a/b/c$"),
        ({"kind": [], "apiVersion": 1}, "cannot unmarshal array into Go struct field .kind of type string"),
    ],
)
def test_a_type_that_is_none_is_told(value: dict[str, Any], why: str) -> None:
    with pytest.raises(UnreadableBody, match=why):
        BodyContent(value).type()
