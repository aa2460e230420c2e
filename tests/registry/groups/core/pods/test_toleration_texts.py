"""Tests that tolerations in annotations are decoded as in Go."""

import re

import pytest

from aio_apiserver.registry.groups.core.pods.parts import toleration_texts


def test_field_names_match_in_any_case() -> None:
    text = '[{"Key": "a", "TOLERATIONSECONDS": 5, "effect": null, "other": 1}, null]'

    assert toleration_texts.read(text, package="v1") == [{"key": "a", "tolerationSeconds": 5}, {}]
    assert toleration_texts.read("null", package="v1") == []


@pytest.mark.parametrize(
    ("text", "package", "why"),
    [
        ("{bad", "v1", "invalid character 'b' looking for beginning of object key string"),
        ("{}", "core", "json: cannot unmarshal object into Go value of type []core.Toleration"),
        ("[1]", "v1", "json: cannot unmarshal number into Go value of type v1.Toleration"),
        (
            '[{"key": 1}, {"value": true}]',
            "core",
            "json: cannot unmarshal number into Go struct field Toleration.Key of type string",
        ),
        (
            '[{"operator": true}]',
            "v1",
            "json: cannot unmarshal bool into Go struct field Toleration.operator of type v1.TolerationOperator",
        ),
        (
            '[{"tolerationSeconds": 1.5}]',
            "core",
            "json: cannot unmarshal number 1.5 into Go struct field Toleration.TolerationSeconds of type int64",
        ),
    ],
)
def test_invalid_tolerations_get_the_message_of_go(text: str, package: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        toleration_texts.read(text, package=package)
