"""What structural schemas do to values."""

from typing import Any

import pytest

from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.custom.custom_type import CustomType
from aio_apiserver.registry.machinery.schema.structural import defaulting, lists, pruning

SPEC: dict[str, Any] = {
    "type": "object",
    "properties": {
        "known": {"type": "string"},
        "kept": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "nullable": {"type": "string", "nullable": True},
        "defaulted": {"type": "string", "default": "x"},
    },
}
ROOT: dict[str, Any] = {"type": "object", "properties": {"spec": SPEC}}


def test_unknown_fields_go_and_are_told() -> None:
    obj = {"metadata": {"name": "a"}, "spec": {"known": "1", "other": 2, "list": [{"a": 1, "b": 2}]}, "top": 1}

    unknown = pruning.prune(obj, ROOT)

    assert unknown == ["spec.list[0].b", "spec.other", "top"]
    assert obj == {"metadata": {"name": "a"}, "spec": {"known": "1", "list": [{"a": 1}]}}


def test_what_is_to_be_preserved_stays() -> None:
    obj = {"spec": {"kept": {"any": {"thing": 1}}, "map": {"x": "y"}}}

    assert pruning.prune(obj, ROOT) == []
    assert obj == {"spec": {"kept": {"any": {"thing": 1}}, "map": {"x": "y"}}}


def test_null_stays_only_where_it_is_a_value_or_has_a_default() -> None:
    obj: dict[str, Any] = {"spec": {"known": None, "nullable": None, "defaulted": None}}

    pruning.drop_nulls(obj, ROOT)

    assert obj == {"spec": {"nullable": None, "defaulted": None}}


def test_defaults_are_filled_in_and_are_not_shared() -> None:
    one: dict[str, Any] = {"spec": {"list": [{}], "defaulted": None}}
    other: dict[str, Any] = {"spec": {"list": [{}]}}

    defaulting.apply_defaults(one, ROOT)
    defaulting.apply_defaults(other, ROOT)
    one["spec"]["list"][0]["a"] = 2

    assert other == {"spec": {"list": [{"a": 1}], "defaulted": "x"}}
    assert one["spec"]["defaulted"] == "x"


@pytest.mark.parametrize(
    ("schema_of_list", "value", "wrong"),
    [
        ({"x-kubernetes-list-type": "set"}, ["a", "b", "a", "a"], ['l[2]: Duplicate value: "a"']),
        (
            {"x-kubernetes-list-type": "set"},
            [{"a": 1, "b": 2}, {"b": 2, "a": 1}],
            ['l[1]: Duplicate value: {"a":1,"b":2}'],
        ),
        ({"x-kubernetes-list-type": "set"}, [1, True], []),
        (
            {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
            [{"k": 1}, {"k": 1}, {}],
            ['l[1]: Duplicate value: {"k":1}'],
        ),
    ],
)
def test_lists_hold_nothing_twice(schema_of_list: dict[str, Any], value: list[Any], wrong: list[str]) -> None:
    whole = {"type": "object", "properties": {"l": {"type": "array", **schema_of_list}}}

    assert [str(error) for error in lists.validate_lists({"l": value}, whole)] == wrong


class TestCustomType:
    """Decoding."""

    @pytest.fixture
    def custom(self) -> CustomType:
        return CustomType(lambda: ROOT, schema.builtin())

    def test_whole_numbers_are_integers_however_they_are_written(self, custom: CustomType) -> None:
        decoded = custom.decode({"spec": {"kept": {"a": 1.0, "b": 1.5, "c": 12345678901234567890}}})

        assert decoded.obj["spec"]["kept"] == {"a": 1, "b": 1.5, "c": 12345678901234567000}

    def test_repeated_and_unknown_fields_are_told(self, custom: CustomType) -> None:
        text = b'{"metadata":{"name":"a","zzz":1},"spec":{"known":"1","known":"2","no":1}}'

        decoded = custom.decode({"metadata": {"name": "a", "zzz": 1}, "spec": {"known": "2", "no": 1}}, text=text)

        assert decoded.strict_errors == (
            'duplicate field "spec.known"',
            'unknown field "metadata.zzz"',
            'unknown field "spec.no"',
        )

    def test_metadata_is_that_of_kubernetes(self, custom: CustomType) -> None:
        with pytest.raises(DecodeError, match="cannot unmarshal number into Go struct field"):
            custom.decode({"metadata": {"name": 5}})

    def test_what_is_nested_too_deeply_is_refused(self, custom: CustomType) -> None:
        deep: dict[str, Any] = {}
        for _ in range(500):
            deep = {"a": deep}

        with pytest.raises(DecodeError, match="max depth"):
            custom.decode({"spec": {"kept": deep}})

    def test_what_was_stored_is_read_as_the_schema_is_now(self, custom: CustomType) -> None:
        obj = custom.restore({"metadata": {"name": "a", "labels": 7}, "spec": {"gone": 1, "known": "1"}})

        assert obj["spec"] == {"known": "1", "defaulted": "x"}
        assert obj["metadata"] == {"generation": 1, "name": "a", "resourceVersion": ""}
