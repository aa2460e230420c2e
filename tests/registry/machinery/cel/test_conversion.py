"""Conversion: values with a format, as expressions see them."""

from typing import Any

import pytest

from aio_apiserver.registry.machinery.cel import conversion
from aio_apiserver.registry.machinery.cel.values import SECOND, Duration, EvaluationError


def converted(form: str, value: Any) -> Any:
    convert = conversion.converter({"type": "string", "format": form})
    assert convert is not None
    return convert(value)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("1 day", 86_400), ("PT1H", 3600), ("2 weeks", 1_209_600), ("1h 1min", 3660)]
)
def test_durations_may_be_words(text: str, seconds: int) -> None:
    assert converted("duration", text) == Duration(seconds * SECOND)


def test_a_property_that_is_null_is_absent() -> None:
    some = {"type": "string", "nullable": True}
    convert = conversion.converter({"type": "object", "properties": {"a": some, "b": some}})

    assert convert is not None
    assert convert({"a": None, "b": "x"}) == {"b": "x"}


@pytest.mark.parametrize(
    ("form", "value", "why"),
    [
        ("byte", "a/b=", "Invalid byte formatted string a/b=: illegal base64 data at input byte 1"),
        ("date-time", [], "invalid data, expected string, got []interface {}"),
        ("byte", ["x"], "invalid data, expected string, got []interface {}"),
    ],
)
def test_what_a_format_lets_pass_may_not_be_what_it_says(form: str, value: Any, why: str) -> None:
    with pytest.raises(EvaluationError) as found:
        converted(form, value)

    assert str(found.value) == why
