"""Bad values in Go's syntax, as errors showed them before 1.34."""

from typing import Any

import pytest

from aio_apiserver.registry.base.validation import field, go_syntax

EXPRESSION = {"key": "a", "operator": "In", "values": ["x"]}


@pytest.mark.parametrize(
    ("path", "value", "shown"),
    [
        ("a", None, '"null"'),
        ("spec.template.metadata.labels", None, "map[string]string(nil)"),
        ("metadata.resourceVersion", 0, "0x0"),
        ("metadata.deletionTimestamp", "2001-01-01T00:00:00Z", "2001-01-01 00:00:00 +0000 UTC"),
        ("dryRun", ["x", "y"], '[]string{"x", "y"}'),
        ("labels", {"b": "2", "a": "1"}, 'map[string]string{"a":"1", "b":"2"}'),
        (
            "spec.selector",
            {"matchLabels": {"a": "b"}},
            'v1.LabelSelector{MatchLabels:map[string]string{"a":"b"}, '
            "MatchExpressions:[]v1.LabelSelectorRequirement(nil)}",
        ),
        (
            "spec.selector",
            {"matchExpressions": [EXPRESSION]},
            "v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement"
            '{v1.LabelSelectorRequirement{Key:"a", Operator:"In", Values:[]string{"x"}}}}',
        ),
        ("a", {"deep": {"x": 1}}, '{"deep":{"x":1}}'),
        ("a", "text", '"text"'),
        ("a", 5, "5"),
    ],
)
def test_a_value_is_shown_as_go_prints_it(path: str, value: Any, shown: str) -> None:
    (error,) = go_syntax.in_go_syntax(field.invalid(path, value, "no"))

    assert error.body == f"Invalid value: {shown}: no"


def test_the_value_of_an_enum_is_quoted_as_in_go() -> None:
    (error,) = go_syntax.in_go_syntax(field.not_supported("a", "x\0", ["y"]))

    assert error.body == 'Unsupported value: "x\\x00": supported values: "y"'


def test_an_error_without_a_value_stays() -> None:
    error = field.required("a")

    assert go_syntax.in_go_syntax(error) == (error,)
