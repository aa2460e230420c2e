"""Duplicate keys in YAML."""

import pytest
import yaml

from aio_apiserver.registry.machinery.schema import yaml_keys


def duplicates(text: str) -> str:
    return yaml_keys.duplicates(yaml.compose(text, Loader=yaml.CSafeLoader))


@pytest.mark.parametrize(
    "text", ["", "a: 1\nb: {a: 1}\n", "[{a: 1}, {a: 2}]", "1: a\n'1': b\n", "a: &x {b: 1}\nc: *x\n"]
)
def test_documents_without_duplicates_are_fine(text: str) -> None:
    assert duplicates(text) == ""


def test_each_duplicate_is_a_line() -> None:
    text = "metadata:\n  name: a\n  name: b\nlist:\n- {x: 1, x: 2}\nmetadata:\n  y: 1\n"

    message = duplicates(text)

    assert message == (
        "yaml: unmarshal errors:\n"
        '  line 3: key "name" already set in map\n'
        '  line 5: key "x" already set in map\n'
        '  line 7: key "metadata" already set in map'
    )
    assert yaml_keys.warnings(message) == [
        'line 3: key "name" already set in map',
        'line 5: key "x" already set in map',
        'line 7: key "metadata" already set in map',
    ]


def test_keys_that_are_no_strings_are_not_quoted() -> None:
    assert duplicates("1: a\n1: b\n") == "yaml: unmarshal errors:\n  line 2: key 1 already set in map"


def test_merged_keys_count() -> None:
    text = "base: &b {a: 1}\nuser:\n  <<: *b\n  a: 2\n"

    assert duplicates(text) == 'yaml: unmarshal errors:\n  line 4: key "a" already set in map'


def test_maps_that_merge_themselves_come_to_an_end() -> None:
    assert duplicates("a: &a\n  <<: *a\n  b: 1\n") == ""


def test_nodes_behind_aliases_are_walked_once() -> None:
    text = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: {e: *c, e: *c}\n"

    assert duplicates(text).count("already set") == 1


def test_other_errors_are_warnings_as_they_are() -> None:
    assert yaml_keys.warnings('unknown field "x"') == ['unknown field "x"']
