"""Key prefixes: kube-apiserver's keys."""

import pytest

from aio_apiserver.storage.factory.key_prefixes import key_prefix


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("registry", "/registry/pods/"),
        ("/registry/", "/registry/pods/"),
        ("/a//b/../c", "/a/c/pods/"),
        ("", "/pods/"),
        ("/", "/pods/"),
    ],
)
def test_a_prefix_is_cleaned_like_a_path(prefix: str, expected: str) -> None:
    assert key_prefix(prefix, "pods") == expected


def test_a_place_of_several_parts_is_kept() -> None:
    assert key_prefix("/registry", "services/specs") == "/registry/services/specs/"
