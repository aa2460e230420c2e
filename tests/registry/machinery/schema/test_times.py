"""Times: what is read, how it is printed, and Go's words for what is not a time."""

import pytest

from aio_apiserver.registry.machinery.schema import DecodeError, times

SECONDS = "2006-01-02T15:04:05Z07:00"
MICROS = "2006-01-02T15:04:05.000000Z07:00"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
        ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"),
        ("2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05Z"),
        ("2024-01-02T03:04:05,6Z", "2024-01-02T03:04:05Z"),
        ("2024-01-02T03:04:05+02:30", "2024-01-02T00:34:05Z"),
        ("2023-12-31T23:30:00-01:00", "2024-01-01T00:30:00Z"),
        ("2024-01-02T3:04:05Z", "2024-01-02T03:04:05Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59-01:00", "10000-01-01T00:59:59Z"),
    ],
)
def test_times_are_printed_in_utc_to_the_second(text: str, printed: str) -> None:
    assert times.time(text) == printed


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("2024-01-02T03:04:05.000000Z", "2024-01-02T03:04:05.000000Z"),
        ("2024-01-02T03:04:05.123456+01:00", "2024-01-02T02:04:05.123456Z"),
    ],
)
def test_micro_times_keep_six_digits(text: str, printed: str) -> None:
    assert times.micro_time(text) == printed


def test_the_zero_time_is_none() -> None:
    assert times.time("0001-01-01T00:00:00Z") is None
    assert times.time("0001-01-01T01:00:00+01:00") is None
    assert times.micro_time("0001-01-01T00:00:00.000000Z") is None
    assert times.micro_time("0001-01-01T00:00:00.000001Z") is not None


@pytest.mark.parametrize(
    ("text", "rest", "chunk"),
    [
        ("yesterday", "yesterday", "2006"),
        ("", "", "2006"),
        ("2024", "", "-"),
        ("2024-1-02T03:04:05Z", "1-02T03:04:05Z", "01"),
        ("2024-01-02", "", "T"),
        ("2024-01-02 03:04:05Z", " 03:04:05Z", "T"),
        ("2024-01-02T03:04:05", "", "Z07:00"),
        ("2024-01-02T03:04:05+0200", "+0200", "Z07:00"),
    ],
)
def test_what_does_not_parse_is_quoted_from_where_it_fails(text: str, rest: str, chunk: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        times.time(text)

    assert refusal.value.message == f'parsing time "{text}" as "{SECONDS}": cannot parse "{rest}" as "{chunk}"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2024-13-02T03:04:05Z", "month out of range"),
        ("2024-01-32T03:04:05Z", "day out of range"),
        ("2023-02-29T03:04:05Z", "day out of range"),
        ("2024-01-00T03:04:05Z", "day out of range"),
        ("2024-01-02T24:04:05Z", "hour out of range"),
        ("2024-01-02T03:60:05Z", "minute out of range"),
        ("2024-01-02T03:04:60Z", "second out of range"),
        ("2024-01-02T03:04:05+25:00", "time zone offset hour out of range"),
        ("2024-01-02T03:04:05+00:61", "time zone offset minute out of range"),
        ("2024-01-02T03:04:05Zulu", 'extra text: "ulu"'),
    ],
)
def test_numbers_out_of_range_are_named(text: str, message: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        times.time(text)

    assert refusal.value.message == f'parsing time "{text}": {message}'


@pytest.mark.parametrize(
    ("text", "rest", "chunk"),
    [
        ("2024-01-02T03:04:06.5Z", ".5Z", ".000000"),
        ("2024-01-02T03:04:07Z", "Z", ".000000"),
        ("2024-01-02T03:04:05", "", ".000000"),
        ("2024-01-02T03:04:05.1234567Z", "7Z", "Z07:00"),
    ],
)
def test_micro_times_need_exactly_six_digits(text: str, rest: str, chunk: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        times.micro_time(text)

    assert refusal.value.message == f'parsing time "{text}" as "{MICROS}": cannot parse "{rest}" as "{chunk}"'


def test_texts_that_are_not_ascii_are_quoted_byte_by_byte() -> None:
    with pytest.raises(DecodeError) as refusal:
        times.time('ü"\n')

    assert refusal.value.message.startswith(r'parsing time "\xc3\xbc\"\x0a" as ')
