"""Tests cron schedules, time zones and lists of indexes."""

import zoneinfo
from pathlib import Path

import pytest

from aio_apiserver.registry.groups.batch import indexes, schedules, time_zones


@pytest.mark.parametrize(
    "schedule",
    ["* * * * *", "*/5 0-6,12 1 jan-DEC sun", "@hourly", "@every 1h30m", "0/15 ? * * 6", "TZ=UTC @daily", ", * * * *"],
)
def test_valid_schedules_are_accepted(schedule: str) -> None:
    assert schedules.error_of(schedule) == ""


@pytest.mark.parametrize(
    ("schedule", "error"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        (
            "99999999999999999999 * * * *",
            'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": '
            "value out of range",
        ),
        ("@never", "unrecognized descriptor: @never"),
        ("@every x", 'failed to parse duration @every x: time: invalid duration "x"'),
        ("TZ=Nowhere * * * * *", "provided bad location Nowhere: unknown time zone Nowhere"),
        ("TZ=0", "invalid schedule format: runtime error: slice bounds out of range [:-1]"),
    ],
)
def test_invalid_schedules_are_refused(schedule: str, error: str) -> None:
    assert schedules.error_of(schedule) == error


def test_time_zones_are_those_of_the_database() -> None:
    assert time_zones.error_of("Europe/Berlin") == ""
    assert time_zones.error_of("Nowhere") == "unknown time zone Nowhere"
    assert time_zones.error_of("../etc/passwd") == "time: invalid location name"


@pytest.mark.parametrize("name", ["a" * 300, "é" * 200, "a/" * 2000 + "a"])
def test_a_time_zone_that_no_file_can_have_is_unknown(name: str) -> None:
    assert time_zones.error_of(name) == f"unknown time zone {name}"


def test_a_directory_of_time_zones_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Folder").mkdir()
    before = zoneinfo.TZPATH
    zoneinfo.reset_tzpath([str(tmp_path)])

    try:
        assert time_zones.error_of("Folder") == "is a directory"
    finally:
        zoneinfo.reset_tzpath(before)


def test_indexes_are_counted() -> None:
    assert indexes.parse("0,2-4,7", 8) == 5


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a", 'cannot convert string to integer for index: "a"'),
        ("8", 'too large index: "8"'),
        ("3,2", "non-increasing order, previous: 3, current: 2"),
        ("3-3", "non-increasing order, previous: 3, current: 3"),
    ],
)
def test_indexes_that_cannot_be_read(text: str, error: str) -> None:
    with pytest.raises(indexes.InvalidIndexes, match=error):
        indexes.parse(text, 8)


def test_the_first_common_index_is_found() -> None:
    assert indexes.overlap("0-2,5", "x,3,5-6", 8) == 5
    assert indexes.overlap("0-2", "3", 8) is None
