"""Values against schemas."""

from typing import Any

import pytest

from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.registry.machinery.schema.validation import formats, values
from aio_apiserver.registry.machinery.schema.validation.correlation import Correlated


def errors_of(schema: dict[str, Any], value: Any) -> list[str]:
    whole = {"type": "object", "properties": {"a": schema}}
    return [str(error) for error in values.validate({"a": value}, whole, plans={}, budget=Budget(values.LIMITS))]


@pytest.mark.parametrize(
    ("schema", "value", "wrong"),
    [
        ({"type": "string"}, 1, ['a: Invalid value: "integer": a in body must be of type string: "integer"']),
        ({"type": "string"}, None, ['a: Invalid value: "null": a in body must be of type string: "null"']),
        ({"type": "string", "nullable": True}, None, []),
        ({"type": "number"}, 1, []),
        ({"x-kubernetes-int-or-string": True}, "x", []),
        ({"type": "string", "maxLength": 2}, "abc", ["a: Too long: may not be more than 2 bytes"]),
        ({"type": "string", "pattern": "^b"}, "abc", ["a: Invalid value: \"abc\": a in body should match '^b'"]),
        ({"type": "integer", "minimum": 3}, 2, ["a: Invalid value: 2: a in body should be greater than or equal to 3"]),
        ({"type": "number", "multipleOf": 0.1}, 0.3, []),
        (
            {"type": "number", "multipleOf": 0.1},
            0.25,
            ["a: Invalid value: 0.25: a in body should be a multiple of 0.1"],
        ),
        ({"type": "string", "enum": ["x"]}, "y", ['a: Unsupported value: "y": supported values: "x"']),
        ({"type": "array", "maxItems": 1}, [1, 2], ["a: Too many: 2: must have at most 1 item"]),
        ({"type": "object", "required": ["b"]}, {}, ["a.b: Required value"]),
        (
            {"type": "integer", "format": "int32"},
            2**31,
            ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a'],
        ),
        (
            {"not": {"minimum": 1}},
            5,
            ['<nil>: Invalid value: "": "a" must not validate the schema (not)'],
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 10}]},
            5,
            [
                '<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)',
                "a: Invalid value: 5: a in body should be greater than or equal to 10",
            ],
        ),
        (
            {"oneOf": [{"minimum": 1}, {"maximum": 9}]},
            5,
            ['<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
        ),
    ],
)
def test_what_is_wrong_is_told(schema: dict[str, Any], value: Any, wrong: list[str]) -> None:
    assert errors_of(schema, value) == wrong


def test_what_has_not_changed_may_stay_wrong() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "maxLength": 1},
            "l": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}},
            },
        },
    }
    old = {"a": "long", "l": [{"k": "1", "v": "bad"}, {"k": "2", "v": 1}]}
    new = {"a": "long", "l": [{"k": "2", "v": "bad"}, {"k": "1", "v": "bad"}]}

    errors = values.validate(new, schema, old=Correlated(new, old, schema), plans={}, budget=Budget(values.LIMITS))

    assert [error.path for error in errors] == ["l[0].v"]


def test_a_long_enum_is_shown_in_part() -> None:
    listed = [f"value-{number:06}" for number in range(50_000)]

    (error,) = errors_of({"type": "string", "enum": listed}, "none")

    assert error.endswith('"..."')
    assert len(error) < 64 * 1024


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "pattern": "(a?){900}b"}, "a" * 1_000),
        ({"type": "string", "anyOf": [{"pattern": rf"^\pL{{1,{number}}}$"} for number in range(90, 99)]}, "1"),
        ({"type": "array", "items": {"type": "string", "anyOf": [{"minLength": 9}] * 90}}, ["a"] * 100),
        ({"type": "object", "required": [str(number) for number in range(11_000)]}, {}),
        ({"type": "array", "items": {"type": "object", "properties": {str(n): {} for n in range(9_000)}}}, [{}] * 50),
    ],
    ids=["a pattern", "large patterns", "alternatives", "required members", "properties"],
)
def test_a_validation_pays_for_each_value_and_each_schema(schema: dict[str, Any], value: Any) -> None:
    with pytest.raises(BudgetExceeded):
        values.validate(value, schema, plans={}, budget=Budget(BudgetLimits(steps=10_000, bytes_made=0)))


def test_patterns_take_linear_time() -> None:
    (error,) = errors_of({"type": "string", "pattern": "^(a+)+$"}, "a" * 100_000 + "!")

    assert "should match '^(a+)+$'" in error


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("date-time", "2020-01-02T03:04:05Z", "2020-01-02"),
        ("date", "2020-02-29", "2021-02-29"),
        ("duration", "1h30m", "soon"),
        ("duration", "3 weeks", ""),
        ("email", "Barry <b@example.com>", "b@"),
        ("uri", "https://example.com/a?b#c", "example.com"),
        ("hostname", "a-b.example", "a_b"),
        ("ipv4", "10.0.0.01", "10.0.0"),
        ("ipv6", "::1", "1.2.3.4"),
        ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
        ("mac", "00:00:5e:00:53:01", "00:00:5e"),
        ("uuid4", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "f47ac10b-58cc-1372-a567-0e02b2c3d479"),
        ("isbn", "978-0321751041", "978-0321751042"),
        ("creditcard", "4111-1111-1111-1111", "4111-1111-1111-1112"),
        ("hexcolor", "#ffF", "#ff"),
        ("rgbcolor", "rgb(1, 2, 255)", "rgb(1,2,256)"),
        ("byte", "aGk=", "aGk"),
        ("bsonobjectid", "0123456789abcdef01234567", "xyz"),
        ("ssn", "123-45-6789", "12-345-6789"),
        ("k8s-short-name", "a-1", "A"),
        ("k8s-long-name", "a.b-1", "a..b"),
    ],
)
def test_formats(name: str, right: str, wrong: str) -> None:
    check = formats.CHECKS[formats.effective(name, "string")]

    assert check(right)
    assert not check(wrong)


def test_formats_are_told_by_the_names_that_schemas_give_them() -> None:
    assert errors_of({"type": "string", "format": "date-time"}, 1) == [
        'a: Invalid value: "int64": a in body must be of type date-time: "int64"'
    ]


def test_formats_of_other_types_are_not_those_of_strings() -> None:
    assert formats.effective("int32", "integer") == "int32"
    assert formats.effective("date", "integer") == ""
    assert formats.effective("zebra", "string") == ""
