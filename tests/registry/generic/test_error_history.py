"""What became of field errors and warnings in other minors."""

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.generic import error_history
from aio_apiserver.registry.generic.error_history import absent, errors_at, retold, since, until, warned_until, worded

REQUIRED = field.required("spec.a", "must be set")
OTHER = field.invalid("spec.b", 1, "must be 2")


def told(rows: tuple[error_history.ErrorRow, ...], version: tuple[int, int]) -> list[str]:
    return [str(one) for one in retold([REQUIRED, OTHER], errors_at(rows, version))]


def test_a_row_is_in_effect_in_its_lifetime_alone() -> None:
    rows = (until((1, 36), "spec.a", worded("was missing")),)

    assert told(rows, (1, 35))[0] == "spec.a: Required value: was missing"
    assert told(rows, (1, 36))[0] == "spec.a: Required value: must be set"


def test_an_error_can_be_absent_or_come_last() -> None:
    rows = (since((1, 37), "spec.b", absent), since((1, 38), "spec.a", worded(""), is_last=True))

    assert told(rows, (1, 37)) == ["spec.a: Required value: must be set"]
    assert told(rows[1:], (1, 38)) == ["spec.b: Invalid value: 1: must be 2", "spec.a: Required value"]


def test_a_warning_that_was_no_warning_is_left_out_and_another_one_reworded() -> None:
    rows = (warned_until((1, 36), "is old"), warned_until((1, 36), r"(\w+) is invalid", r"\1 will be invalid"))

    shown = error_history.warnings_of_minor(["a is old", "b is invalid", "c"], error_history.warnings_at(rows, (1, 35)))

    assert shown == ["b will be invalid", "c"]
