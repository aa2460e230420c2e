"""Versioner: resourceVersion in objects, and valid texts."""

from typing import Any

import pytest

from aio_apiserver.storage import versioner
from aio_apiserver.storage.errors import InvalidOptions


def obj(**metadata: Any) -> dict[str, Any]:
    return {"kind": "Widget", "metadata": metadata}


def test_a_revision_shows_in_the_place_that_clearing_has_kept() -> None:
    widget = obj(name="a", uid="u", creationTimestamp="t")

    versioner.clear_resource_version(widget)
    cleared = dict(widget["metadata"])
    versioner.set_resource_version(widget, 7)

    assert list(cleared.items()) == [
        ("name", "a"),
        ("uid", "u"),
        ("resourceVersion", ""),
        ("creationTimestamp", "t"),
    ]
    assert list(widget["metadata"].items()) == [
        ("name", "a"),
        ("uid", "u"),
        ("resourceVersion", "7"),
        ("creationTimestamp", "t"),
    ]


def test_clearing_leaves_a_resource_version_in_its_place() -> None:
    widget = obj(name="a", resourceVersion="7", uid="u")

    versioner.clear_resource_version(widget)

    assert list(widget["metadata"].items()) == [("name", "a"), ("resourceVersion", ""), ("uid", "u")]


def test_in_sorted_metadata_the_resource_version_precedes_the_uid() -> None:
    """That of custom resources, as kube-apiserver shows them."""
    widget = obj(creationTimestamp="2026-01-01T00:00:00Z", name="a", uid="u")

    versioner.clear_resource_version(widget)

    assert list(widget["metadata"]) == ["creationTimestamp", "name", "resourceVersion", "uid"]


def test_without_a_uid_the_resource_version_comes_last() -> None:
    widget = obj(name="a")

    versioner.clear_resource_version(widget)

    assert list(widget["metadata"].items()) == [("name", "a"), ("resourceVersion", "")]


def test_an_object_that_was_never_stored_shows_no_revision() -> None:
    widget = obj(name="a", resourceVersion="")

    versioner.set_resource_version(widget, 0)

    assert widget == obj(name="a")


@pytest.mark.parametrize(("text", "revision"), [(None, 0), ("", 0), ("0", 0), ("42", 42)])
def test_the_revision_of_an_object_is_the_number_that_it_shows(text: str | None, revision: int) -> None:
    widget = obj(name="a") if text is None else obj(name="a", resourceVersion=text)

    assert versioner.resource_version(widget) == revision


@pytest.mark.parametrize(
    ("text", "revision"),
    [("", None), ("0", 0), ("1", 1), ("007", 7), (str(2**63 - 1), 2**63 - 1), ("0" * 5000 + "7", 7)],
)
def test_a_resource_version_is_a_decimal_number(text: str, revision: int | None) -> None:
    assert versioner.parse_resource_version(text) == revision


@pytest.mark.parametrize(
    "text", ["x", "-1", "+1", " 1", "1 ", "1_0", "1.0", "0x1", "\u0663", "\u00b2", str(2**63), "9" * 5000]
)
def test_no_other_text_is_one(text: str) -> None:
    with pytest.raises(InvalidOptions, match="must be a decimal number"):
        versioner.parse_resource_version(text)
